/**
 * Data output: what a die drives onto the bus, and from where in it.
 *
 * Status commands only lay themselves over the source of the data; 00h brings it back.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import type { Features } from './features.ts';
import { type DieIdentity, ONFI_SIGNATURE, UNIQUE_RECORD_BYTES } from './identify.ts';
import type { Lun } from './lun.ts';
import { ERASED_BYTE } from './page-register.ts';
import { PARAMETER_PAGE_BYTES } from './parameter-page.ts';
import { ViolationRule } from './rules.ts';
import { ALL_PLANES } from './status.ts';

export enum OutputSource {
  None,
  /** 70h, or 78h for one plane. */
  Status,
  Id,
  Signature,
  ParameterPage,
  UniqueId,
  Features,
  /** Cache register of the selected plane. */
  Register,
}

export class DataOutput {
  readonly #lun: Lun;
  readonly #identity: DieIdentity;
  readonly #features: Features;
  /** What is driven now. */
  source = OutputSource.None;
  /** What 00h brings back: the last source that was no status. */
  dataSource = OutputSource.None;
  /** Bytes of the source already passed, or skipped by a change of column. */
  column = 0;
  /** Plane whose cache register is read. */
  plane = 0;
  /** Planes that the status speaks of. */
  statusPlanes = ALL_PLANES;
  /** Address of the feature that is read. */
  featureAddress = 0;

  constructor(lun: Lun, identity: DieIdentity, features: Features) {
    this.#lun = lun;
    this.#identity = identity;
    this.#features = features;
  }

  /** Turns to a source of data, from `column` on. */
  select(source: OutputSource, column: number): void {
    this.source = source;
    this.dataSource = source;
    this.column = column;
  }

  selectStatus(planes: number): void {
    this.source = OutputSource.Status;
    this.statusPlanes = planes;
  }

  /** 00h: back from status to the data. */
  resume(): void {
    this.source = this.dataSource;
  }

  /** Fills `into` with the next bytes. */
  read(into: Uint8Array, atNs: number): void {
    if (this.source === OutputSource.Status) {
      into.fill(this.#lun.statusOf(this.statusPlanes, atNs));
      return;
    }
    if (atNs < this.#lun.readyAtNs) {
      this.#lun.report(ViolationRule.DataOutWhileBusy, atNs);
      into.fill(ERASED_BYTE);
      return;
    }
    if (this.source === OutputSource.Register) {
      this.#readRegister(into, atNs);
      return;
    }
    if (this.source === OutputSource.None) {
      this.#lun.report(ViolationRule.DataOutUnexpected, atNs);
    }
    for (let i = 0; i < into.length; i++) into[i] = this.#byteAt(this.column + i);
    this.column += into.length;
  }

  #readRegister(into: Uint8Array, atNs: number): void {
    const room = this.#lun.registerBytes - this.column;
    const count = Math.min(into.length, Math.max(0, room));
    if (count > 0) this.#lun.cache[this.plane]!.read(this.column, into, 0, count);
    if (count < into.length) {
      this.#lun.report(ViolationRule.ColumnRange, atNs);
      into.fill(ERASED_BYTE, count);
    }
    this.column += count;
  }

  #byteAt(column: number): number {
    // Both edges of a synchronous cycle carry the same byte of id and features.
    const single = this.#features.synchronous ? column >>> 1 : column;
    switch (this.source) {
      case OutputSource.Id:
        return this.#identity.idBytes[single] ?? 0;
      case OutputSource.Signature:
        return ONFI_SIGNATURE[single] ?? 0;
      case OutputSource.ParameterPage:
        return this.#identity.parameterPage[column % PARAMETER_PAGE_BYTES]!;
      case OutputSource.UniqueId:
        return this.#identity.uniqueRecord[column % UNIQUE_RECORD_BYTES]!;
      case OutputSource.Features:
        return this.#features.get(this.featureAddress, single & 3);
      default:
        return ERASED_BYTE;
    }
  }

  reset(): void {
    this.select(OutputSource.None, 0);
    this.plane = 0;
    this.statusPlanes = ALL_PLANES;
  }

  save(): Saved {
    const { source, dataSource, column, plane, statusPlanes, featureAddress } = this;
    return { source, dataSource, column, plane, statusPlanes, featureAddress };
  }

  restore(saved: Saved): void {
    this.source = saved.source as OutputSource;
    this.dataSource = saved.dataSource as OutputSource;
    this.column = saved.column as number;
    this.plane = saved.plane as number;
    this.statusPlanes = saved.statusPlanes as number;
    this.featureAddress = saved.featureAddress as number;
  }
}
