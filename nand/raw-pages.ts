/**
 * Raw pages of the drive: the bytes on the bus for what the controller holds as slots.
 *
 * Made only when somebody looks at cycles: data and spare records are encoded as the controller's
 * ECC engine does, so a trace or a raw dump shows what the real cells would hold.
 */

import type { Content } from '../hal/content/content.ts';
import { type FlashOps, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import { SLOT_BYTES } from '../hal/sim/units.ts';
import { PageCodec, type SlotRecord } from './ecc/page-codec.ts';
import { ERASED_BYTE } from './onfi/page-register.ts';
import type { PageStore } from './page-store.ts';
import type { RawPages } from './slot-register.ts';

export class DriveRawPages implements RawPages {
  readonly rawBytes: number;
  readonly #geometry: Geometry;
  readonly #store: PageStore;
  readonly #contents: Content;
  readonly #ops: FlashOps;
  /** Its tables take time to build, and most runs never look. */
  #codec: PageCodec | null = null;

  constructor(geometry: Geometry, store: PageStore, contents: Content, ops: FlashOps) {
    this.rawBytes = geometry.pageBytes + geometry.spareBytes;
    this.#geometry = geometry;
    this.#store = store;
    this.#contents = contents;
    this.#ops = ops;
  }

  rawOfCells(firstSlot: number): Uint8Array {
    const geometry = this.#geometry;
    const block = geometry.blockIndexOf(firstSlot);
    if (geometry.pageOf(firstSlot) >= this.#store.history.nextPageOf(block)) {
      return new Uint8Array(this.rawBytes).fill(ERASED_BYTE);
    }
    return this.#encode(firstSlot, (slot) => ({
      content: this.#store.contentOf(firstSlot + slot),
      pageWord: this.#store.pageWordOf(firstSlot + slot),
      order: this.#store.orderOf(firstSlot + slot),
    }));
  }

  rawOfOp(op: number, plane: number, firstSlot: number): Uint8Array {
    const ops = this.#ops;
    const first = op * SLOTS_PER_OP + plane * this.#geometry.slotsPerPage;
    return this.#encode(firstSlot, (slot) => ({
      content: ops.content[first + slot]!,
      pageWord: ops.pageWord[first + slot]!,
      order: ops.order[first + slot]!,
    }));
  }

  #encode(
    firstSlot: number,
    cells: (slot: number) => { content: number; pageWord: number; order: number },
  ): Uint8Array {
    const geometry = this.#geometry;
    this.#codec ??= new PageCodec(geometry);
    const data = new Uint8Array(geometry.pageBytes);
    const records: SlotRecord[] = [];
    for (let slot = 0; slot < geometry.slotsPerPage; slot++) {
      const { content, pageWord, order } = cells(slot);
      data.set(this.#contents.bytesOf(content), slot * SLOT_BYTES);
      const badSectors = this.#contents.spoiledOf(content);
      records.push({ pageWord, order: order >>> 0, badSectors });
    }
    const raw = new Uint8Array(this.rawBytes);
    const place = { block: geometry.blockOf(firstSlot), page: geometry.pageOf(firstSlot) };
    this.#codec.encodePage(place, data, records, raw);
    return raw;
  }
}
