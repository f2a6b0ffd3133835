/**
 * Faults of the dies: what the fault list does to the operation each die works on.
 *
 * The list is asked once an operation, when it starts; the answer holds until it has ended. With no
 * fault armed nothing is asked and nothing kept.
 */

import type { FaultList } from '../hal/faults/fault-list.ts';
import { FlashEffect, FlashVerdict } from '../hal/faults/flash-verdict.ts';
import type { FlashOps } from '../hal/flash-ops.ts';
import type { Saved } from '../hal/sim/snapshot.ts';
import type { DieCells } from './die-cells.ts';
import { CORRECTABLE_BITS } from './media.ts';

/** Every second bit of random data is wrong when its line is stuck: beyond any code. */
const STUCK_LINE_BITS = 540;
/** Effects under which a die never becomes ready, or is never heard. */
const SILENT_DIE =
  FlashEffect.StuckBusy | FlashEffect.StatusTimeout | FlashEffect.DeadDie | FlashEffect.DeadChannel;

export class DieFaults {
  readonly #list: FaultList | null;
  readonly #ops: FlashOps;
  readonly #cells: readonly DieCells[];
  readonly #planes: number;
  /** Verdict on the present operation of each die; null while no fault hits it. */
  readonly #verdicts: (FlashVerdict | null)[];
  /** Dies whose present operation is hit. */
  hitCount = 0;

  constructor(list: FaultList | null, ops: FlashOps, cells: readonly DieCells[], planes: number) {
    this.#list = list;
    this.#ops = ops;
    this.#cells = cells;
    this.#planes = planes;
    this.#verdicts = new Array<FlashVerdict | null>(cells.length).fill(null);
  }

  /** Faults over flash operations are armed. */
  get armed(): boolean {
    return this.#list?.flashArmed === true;
  }

  /** Asks for the operation that a die starts; null when no fault hits it. */
  begin(die: number, op: number, ordinal: number): FlashVerdict | null {
    const ops = this.#ops;
    const asked = this.#list!.onFlash(
      ops.op[op]!,
      die,
      ops.block[op]!,
      ops.page[op]!,
      ops.slotMask[op]!,
      ordinal,
    );
    if (asked.effects === 0) return null;
    const verdict = new FlashVerdict(this.#planes);
    verdict.copy(asked);
    this.#lay(die, verdict);
    return verdict;
  }

  verdictOf(die: number): FlashVerdict | null {
    return this.#verdicts[die]!;
  }

  /** The die will not be ready in time. */
  isSilent(die: number): boolean {
    const verdict = this.#verdicts[die]!;
    return verdict !== null && (verdict.effects & SILENT_DIE) !== 0;
  }

  /** Block of plane 0 that the present operation goes to: the planes of a group go together. */
  blockOf(die: number, block: number): number {
    const verdict = this.#verdicts[die]!;
    const other = verdict?.otherBlock.find((one) => one >= 0) ?? -1;
    return other < 0 ? block : other & -this.#planes;
  }

  /** Wrong bits that faults add to each codeword of a slot of the present operation. */
  addedBits(die: number, slot: number): number {
    const verdict = this.#verdicts[die]!;
    if (verdict === null) return 0;
    const { effects } = verdict;
    let bits = 0;
    if ((effects & FlashEffect.BitErrors) !== 0) bits += verdict.bitErrorsOfSlot[slot]!;
    const lost = (effects & FlashEffect.Uncorrectable) !== 0;
    if (lost && ((verdict.uncorrectableSlots >>> slot) & 1) !== 0) bits += CORRECTABLE_BITS + 1;
    if ((effects & FlashEffect.MissingDqBit) !== 0) bits += STUCK_LINE_BITS;
    return bits;
  }

  /** The operation has ended. */
  end(die: number): void {
    if (this.#verdicts[die] === null) return;
    this.#verdicts[die] = null;
    this.hitCount--;
    const cells = this.#cells[die]!;
    cells.failPlanes = 0;
    cells.silentPlanes = 0;
    cells.redirected = false;
  }

  #lay(die: number, verdict: FlashVerdict): void {
    this.#verdicts[die] = verdict;
    this.hitCount++;
    const cells = this.#cells[die]!;
    cells.failPlanes = verdict.failedPlanes;
    cells.silentPlanes = verdict.silentPlanes;
    cells.redirected = (verdict.effects & FlashEffect.WrongBlock) !== 0;
  }

  reset(): void {
    for (let die = 0; die < this.#verdicts.length; die++) this.end(die);
  }

  save(): Saved {
    return { verdicts: this.#verdicts.map((verdict) => verdict?.save() ?? null) };
  }

  restore(saved: Saved): void {
    (saved.verdicts as (Saved | null)[]).forEach((one, die) => {
      this.end(die);
      if (one === null) return;
      const verdict = new FlashVerdict(this.#planes);
      verdict.restore(one);
      this.#lay(die, verdict);
    });
  }
}
