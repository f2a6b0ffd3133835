/**
 * The answer key of raw dumps: what every slot holds, and where the newest copy of every logical
 * page lies. JSON lines; for those who decode the dumps by themselves.
 */
import { LAST_OF_COMMAND, LPN_MASK, METADATA } from '../../hal/flash-ops.ts';
import { hasData, PageState, SlotKind } from './format.ts';
import type { ImageFile } from './image-file.ts';
import { OutputFile } from './output-file.ts';
import { type PageRecords, SlotValues } from './page-records.ts';
import { walkSuperblocks } from './walk.ts';

/** A line of the first part: a slot of a programmed page. */
export interface SlotAnswer {
  readonly slot: number;
  readonly place: string;
  readonly kind: string;
  /** Logical page; of a metadata slot its metadata page index; null for padding. */
  readonly lpn: number | null;
  readonly metadata: boolean;
  readonly lastOfCommand: boolean;
  readonly order: number;
  /** CRC-32 of the 4096 bytes, null where the slot is zeros. */
  readonly crc: number | null;
}

/** A line of the second part: the slot of a logical page with the highest order number. */
export interface MapAnswer {
  readonly map: number;
  readonly slot: number;
  readonly order: number;
}

/** Writes the answer key; trims are not in it, since the flash does not hold them by slot. */
export function writeAnswerKey(image: ImageFile, path: string): { slots: number; pages: number } {
  const file = new OutputFile(path);
  try {
    const key = new AnswerKey(image, file);
    walkSuperblocks(image, (_, records) => key.add(records));
    const counts = key.finish();
    file.commit();
    return counts;
  } catch (error) {
    file.discard();
    throw error;
  }
}

class AnswerKey {
  readonly #image: ImageFile;
  readonly #file: OutputFile;
  readonly #values = new SlotValues();
  /** By logical page: newest slot plus one, and its order number. */
  readonly #newestSlot: Int32Array;
  readonly #newestOrder: Uint32Array;
  #slots = 0;

  constructor(image: ImageFile, file: OutputFile) {
    this.#image = image;
    this.#file = file;
    this.#newestSlot = new Int32Array(image.geometry.slots);
    this.#newestOrder = new Uint32Array(image.geometry.slots);
  }

  add(records: PageRecords): void {
    const { geometry, blocks } = this.#image;
    for (let i = 0; i < records.count; i++) {
      if (records.stateOf(i, blocks) !== PageState.Programmed) continue;
      for (let j = 0; j < geometry.slotsPerPage; j++) {
        records.slot(i * geometry.slotsPerPage + j, this.#values);
        this.#addSlot((records.firstPage + i) * geometry.slotsPerPage + j);
      }
    }
  }

  finish(): { slots: number; pages: number } {
    let pages = 0;
    for (let lpn = 0; lpn < this.#newestSlot.length; lpn++) {
      const slot = this.#newestSlot[lpn]! - 1;
      if (slot < 0) continue;
      pages++;
      const line: MapAnswer = { map: lpn, slot, order: this.#newestOrder[lpn]! };
      this.#file.append(`${JSON.stringify(line)}\n`);
    }
    return { slots: this.#slots, pages };
  }

  #addSlot(slot: number): void {
    const { kind, pageWord, order, dataCrc } = this.#values;
    const number = (pageWord & LPN_MASK) - 1;
    const isMetadata = (pageWord & METADATA) !== 0;
    const line: SlotAnswer = {
      slot,
      place: this.#image.geometry.describe(slot),
      kind: SlotKind[kind].toLowerCase(),
      lpn: number < 0 ? null : number,
      metadata: isMetadata,
      lastOfCommand: (pageWord & LAST_OF_COMMAND) !== 0,
      order: order >>> 0,
      crc: hasData(kind) ? dataCrc >>> 0 : null,
    };
    this.#slots++;
    this.#file.append(`${JSON.stringify(line)}\n`);
    if (isMetadata || number < 0 || number >= this.#newestSlot.length) return;
    if (this.#newestSlot[number] !== 0 && order >>> 0 < this.#newestOrder[number]!) return;
    this.#newestSlot[number] = slot + 1;
    this.#newestOrder[number] = order >>> 0;
  }
}
