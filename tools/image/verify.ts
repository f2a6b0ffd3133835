/** `bf3 image verify`: every checksum of an image. It reports, and repairs nothing. */
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import { dataCrc } from './crc.ts';
import { BlockState, hasData, PageState } from './format.ts';
import type { ImageFile } from './image-file.ts';
import { type PageRecords, SlotValues } from './page-records.ts';
import { describeBlock, describePage, type OnSuperblock, walkSuperblocks } from './walk.ts';

/** A record or data whose checksum is wrong. */
export interface Damage {
  readonly what: 'block record' | 'page record' | 'data';
  /** 'ch0.die1 block 2 page 3 slot 1', as far as it goes. */
  readonly place: string;
  /** Where it lies in the file, in bytes. */
  readonly byte: number;
}

export interface VerifyReport {
  readonly path: string;
  readonly wasClean: boolean;
  readonly programmedPages: number;
  /** Slots whose data was read and compared. */
  readonly checkedSlots: number;
  /** Places of programs that were begun and have not ended. */
  readonly interruptedPages: readonly string[];
  readonly interruptedErases: readonly string[];
  readonly damage: readonly Damage[];
}

/** Pages whose data is read in one piece. */
const PAGES_PER_READ = 16;

/** Checks block records, page records and data. */
export function verifyImage(image: ImageFile, onSuperblock?: OnSuperblock): VerifyReport {
  const verifier = new Verifier(image);
  verifier.checkBlocks();
  walkSuperblocks(image, (_, records) => verifier.checkPages(records), onSuperblock);
  return verifier.report();
}

class Verifier {
  readonly #image: ImageFile;
  readonly #values = new SlotValues();
  readonly #data: Uint8Array;
  readonly #damage: Damage[] = [];
  readonly #interruptedPages: string[] = [];
  readonly #interruptedErases: string[] = [];
  #programmedPages = 0;
  #checkedSlots = 0;

  constructor(image: ImageFile) {
    this.#image = image;
    this.#data = new Uint8Array(PAGES_PER_READ * image.geometry.slotsPerPage * SLOT_BYTES);
  }

  report(): VerifyReport {
    const { path, wasClean } = this.#image;
    return {
      ...{ path, wasClean, programmedPages: this.#programmedPages },
      checkedSlots: this.#checkedSlots,
      interruptedPages: this.#interruptedPages,
      interruptedErases: this.#interruptedErases,
      damage: this.#damage,
    };
  }

  checkBlocks(): void {
    const { blocks, geometry, layout } = this.#image;
    blocks.blockStates.forEach((state, block) => {
      if (state === BlockState.Erased || state === BlockState.Written) return;
      const place = describeBlock(geometry, block);
      if (state === BlockState.Erasing) this.#interruptedErases.push(place);
      else this.#damage.push({ what: 'block record', place, byte: layout.blockRecordAt(block) });
    });
  }

  checkPages(records: PageRecords): void {
    for (let first = 0; first < records.count; first += PAGES_PER_READ) {
      const end = Math.min(records.count, first + PAGES_PER_READ);
      let dataIsRead = false;
      for (let i = first; i < end; i++) {
        if (!this.#checkPage(records, i) || !records.holdsData(i)) continue;
        if (!dataIsRead) this.#readData(records, first, end);
        dataIsRead = true;
        this.#checkData(records, i, i - first);
      }
    }
  }

  /** Judges a page's record; true when the page is programmed. */
  #checkPage(records: PageRecords, index: number): boolean {
    const { geometry, layout, blocks } = this.#image;
    const page = records.firstPage + index;
    const slot = page * geometry.slotsPerPage;
    const state = records.stateOf(index, blocks);
    if (state === PageState.Programming) {
      this.#interruptedPages.push(describePage(geometry, slot));
    }
    // Of a damaged block record nothing of the block can be judged; it is reported once.
    const isLost = blocks.blockStates[geometry.blockIndexOf(slot)] === BlockState.Damaged;
    if (state === PageState.Damaged && !isLost) {
      const byte = layout.pageRecordAt(page);
      this.#damage.push({ what: 'page record', place: describePage(geometry, slot), byte });
    }
    if (state !== PageState.Programmed) return false;
    this.#programmedPages++;
    return true;
  }

  #readData(records: PageRecords, first: number, end: number): void {
    const { slotsPerPage } = this.#image.geometry;
    const slot = (records.firstPage + first) * slotsPerPage;
    this.#image.readRawData(slot, (end - first) * slotsPerPage, this.#data);
  }

  /** Compares the data of a page, which is the `place`th of what was read. */
  #checkData(records: PageRecords, index: number, place: number): void {
    const { geometry, layout } = this.#image;
    const { slotsPerPage } = geometry;
    for (let j = 0; j < slotsPerPage; j++) {
      records.slot(index * slotsPerPage + j, this.#values);
      if (!hasData(this.#values.kind)) continue;
      this.#checkedSlots++;
      const at = (place * slotsPerPage + j) * SLOT_BYTES;
      const crc = dataCrc(this.#data.subarray(at, at + SLOT_BYTES)) | 0;
      if (crc === this.#values.dataCrc) continue;
      const slot = (records.firstPage + index) * slotsPerPage + j;
      const byte = layout.slotDataAt(slot);
      this.#damage.push({ what: 'data', place: geometry.describe(slot), byte });
    }
  }
}
