/**
 * Decoding: which request of HostPort each ATA command becomes, and what its opcode alone says.
 * Source: ACS-2, 7.
 */

import { type AtaCommand, AtaOpcode, AtaProtocol } from '../hal/ata.ts';
import { HostRequest } from '../hal/ports.ts';

/** Firmware's work for a command; Local when the front end answers it. */
export function requestOf(command: AtaCommand): HostRequest {
  switch (command.opcode) {
    case AtaOpcode.DataSetManagement:
      return HostRequest.Trim;
    case AtaOpcode.FlushCache:
    case AtaOpcode.FlushCacheExt:
      return HostRequest.Flush;
    case AtaOpcode.StandbyImmediate:
    case AtaOpcode.Standby:
    case AtaOpcode.Sleep:
      return HostRequest.Standby;
    case AtaOpcode.ReadVerifySectors:
    case AtaOpcode.ReadVerifySectorsExt:
      return HostRequest.Verify;
    default:
      return command.touchesMedia ? transferOf(command.protocol) : HostRequest.Local;
  }
}

/** True for the commands that answer only while SET MULTIPLE MODE has set a block size. */
export function isMultiple(opcode: AtaOpcode): boolean {
  switch (opcode) {
    case AtaOpcode.ReadMultiple:
    case AtaOpcode.ReadMultipleExt:
    case AtaOpcode.WriteMultiple:
    case AtaOpcode.WriteMultipleExt:
    case AtaOpcode.WriteMultipleFuaExt:
      return true;
    default:
      return false;
  }
}

/** True for the writes, not queued, that are durable when they end. */
export function isForceUnitAccess(opcode: AtaOpcode): boolean {
  return opcode === AtaOpcode.WriteDmaFuaExt || opcode === AtaOpcode.WriteMultipleFuaExt;
}

function transferOf(protocol: AtaProtocol): HostRequest {
  switch (protocol) {
    case AtaProtocol.PioIn:
    case AtaProtocol.DmaIn:
    case AtaProtocol.NcqIn:
      return HostRequest.Read;
    case AtaProtocol.PioOut:
    case AtaProtocol.DmaOut:
    case AtaProtocol.NcqOut:
      return HostRequest.Write;
    default:
      return HostRequest.Local;
  }
}
