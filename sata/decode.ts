/**
 * Decoding: which request of HostPort each ATA command becomes.
 */

import { type AtaCommand, AtaOpcode, AtaProtocol } from '../hal/ata.ts';
import { HostRequest } from '../hal/ports.ts';

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
