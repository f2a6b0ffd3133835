/**
 * Results of flash operations: what an ended one leaves in its descriptor.
 *
 * A read leaves contents, spare records and the sectors that could not be corrected; a program or
 * erase the status that the die has reported.
 */

import { FlashOp, type FlashOps, FlashStatus, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import type { DieFaults } from './die-faults.ts';
import type { FlashCounters } from './flash-counters.ts';
import { CORRECTABLE_BITS, type Media } from './media.ts';
import { retentionScale } from './physics/read-retry.ts';

const ALL_SECTORS = 0xff;
const UNCORRECTABLE = -1;

export interface OpResultsParts {
  ops: FlashOps;
  geometry: Geometry;
  media: Media;
  counters: FlashCounters;
  faults: DieFaults;
}

export class OpResults {
  readonly #ops: FlashOps;
  readonly #geometry: Geometry;
  readonly #media: Media;
  readonly #counters: FlashCounters;
  readonly #faults: DieFaults;

  constructor(parts: OpResultsParts) {
    this.#ops = parts.ops;
    this.#geometry = parts.geometry;
    this.#media = parts.media;
    this.#counters = parts.counters;
    this.#faults = parts.faults;
  }

  /**
   * Decodes the slots of a read.
   * @param block that was sensed in plane 0
   * @returns bits corrected in the worst codeword, or -1 when one was beyond the code
   */
  read(die: number, op: number, block: number): number {
    const ops = this.#ops;
    const media = this.#media;
    const page = ops.page[op]!;
    const unit = this.#geometry.unitSlotOf(die, block >>> this.#geometry.planeBits, page);
    const level = ops.retry[op]!;
    const scale = level === 0 ? 1 : retentionScale(level);
    const hit = this.#faults.hitCount > 0;
    let worst = 0;
    for (let j = 0, rest = ops.slotMask[op]!; rest !== 0; j++, rest >>>= 1) {
      if ((rest & 1) === 0) continue;
      const added = hit ? this.#faults.addedBits(die, j) : 0;
      const corrected = media.read(unit + j, added, scale);
      const at = op * SLOTS_PER_OP + j;
      ops.content[at] = media.content;
      ops.pageWord[at] = media.pageWord;
      ops.order[at] = media.order;
      ops.badSectors[at] = media.badSectors;
      if (corrected !== 0) worst = this.#worse(worst, corrected);
    }
    ops.correctedBits[op] = worst < 0 ? CORRECTABLE_BITS + 1 : worst;
    ops.status[op] = worst < 0 ? FlashStatus.Uncorrectable : FlashStatus.Ok;
    return worst;
  }

  /** A program or erase has ended; `failed` has a bit for each plane whose status is FAIL. */
  work(op: number, failed: number): void {
    this.#ops.status[op] = failed !== 0 ? FlashStatus.Failed : FlashStatus.Ok;
  }

  /** The die has not become ready in time: the operation is given up. */
  timeout(op: number): void {
    const ops = this.#ops;
    this.#counters.timeouts++;
    if (ops.op[op] !== FlashOp.Read) {
      ops.status[op] = FlashStatus.Failed;
      return;
    }
    ops.status[op] = FlashStatus.Uncorrectable;
    ops.correctedBits[op] = CORRECTABLE_BITS + 1;
    for (let at = op * SLOTS_PER_OP; at < (op + 1) * SLOTS_PER_OP; at++) {
      ops.content[at] = 0;
      ops.pageWord[at] = 0;
      ops.order[at] = 0;
      ops.badSectors[at] = ALL_SECTORS;
    }
  }

  #worse(worst: number, corrected: number): number {
    if (corrected < 0) {
      this.#counters.uncorrectable++;
      return UNCORRECTABLE;
    }
    this.#counters.corrected++;
    return worst >= 0 && corrected > worst ? corrected : worst;
  }
}
