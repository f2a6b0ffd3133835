/**
 * Commands about the die itself: READ ID, parameter page, unique id, and the feature registers
 * (ONFI 2.2, sections 5.6 to 5.8, 5.21 and 5.22). The LUN is idle when they come.
 */

import { type DataOutput, OutputSource } from './data-output.ts';
import type { FeatureIntake } from './feature-intake.ts';
import type { Features } from './features.ts';
import { ID_ADDRESS, SIGNATURE_ADDRESS } from './identify.ts';
import type { Lun } from './lun.ts';
import { LunState } from './lun-table.ts';
import { Opcode } from './opcodes.ts';
import { ViolationRule } from './rules.ts';

/** 90h, ECh or EDh with its address; an address the part lacks gives the table at 00h. */
export function identify(
  lun: Lun,
  output: DataOutput,
  opcode: number,
  address: number,
  atNs: number,
): void {
  if (opcode === Opcode.ReadId) {
    const signature = address === SIGNATURE_ADDRESS;
    if (!signature && address !== ID_ADDRESS) lun.report(ViolationRule.AddressRange, atNs);
    output.select(signature ? OutputSource.Signature : OutputSource.Id, 0);
    return;
  }
  if (address !== 0) lun.report(ViolationRule.AddressRange, atNs);
  const unique = opcode === Opcode.ReadUniqueId;
  output.select(unique ? OutputSource.UniqueId : OutputSource.ParameterPage, 0);
  // The table goes through the page registers.
  lun.held.clear();
  lun.copybackPlanes = 0;
  lun.busyUntil(atNs + lun.times.identifyNs);
  lun.enter(LunState.Identifying);
}

/** EEh with its address: P1-P4 can be read after tFEAT. */
export function getFeature(
  lun: Lun,
  output: DataOutput,
  features: Features,
  address: number,
  atNs: number,
): void {
  if (!features.isSupported(address)) lun.report(ViolationRule.FeatureAddress, atNs);
  output.featureAddress = address;
  output.select(OutputSource.Features, 0);
  featureBusy(lun, atNs);
}

/** EFh with its address: P1-P4 follow. */
export function openFeature(
  lun: Lun,
  features: Features,
  intake: FeatureIntake,
  address: number,
  atNs: number,
): void {
  if (!features.isSupported(address)) lun.report(ViolationRule.FeatureAddress, atNs);
  intake.begin(address);
}

/** Data of SET FEATURES; the last byte starts tFEAT. A value the part lacks changes nothing. */
export function takeFeature(
  lun: Lun,
  features: Features,
  intake: FeatureIntake,
  bytes: Uint8Array,
  atNs: number,
): void {
  if (!intake.take(bytes, features.synchronous)) return;
  const { address, parameters } = intake;
  intake.end();
  if (features.accepts(address, parameters[0]!)) {
    const readyNs = atNs + lun.times.featureNs;
    features.set(address, parameters, readyNs + lun.times.interfaceChangeNs);
  } else if (features.isSupported(address)) {
    lun.report(ViolationRule.FeatureValue, atNs);
  }
  featureBusy(lun, atNs);
}

function featureBusy(lun: Lun, atNs: number): void {
  lun.busyUntil(atNs + lun.times.featureNs);
  lun.enter(LunState.FeatureBusy);
}
