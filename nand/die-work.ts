/**
 * The work of the dies: what each is doing, since when, and until when.
 *
 * One row a die over typed arrays. A program counts as transfer in until its data has come; that is
 * an instant known beforehand, so the phase follows from the time and needs no event.
 */

import { FlashOp, type FlashOps } from '../hal/flash-ops.ts';
import { type Probe, ProbeKind } from '../hal/sim/probe.ts';
import type { Saved } from '../hal/sim/snapshot.ts';
import type { DieCells } from './die-cells.ts';
import { DiePhase } from './die-table.ts';

const NONE = -1;
/** The phase in which an operation begins, by FlashOp. */
const FIRST_PHASE = [DiePhase.Reading, DiePhase.TransferIn, DiePhase.Erasing] as const;

export class DieWork {
  /** Phase by the events alone: TransferIn until the end of a program. */
  readonly phase: Uint8Array;
  /** Descriptor each die works on, -1 when idle. */
  readonly op: Int32Array;
  /** Block it works on: the descriptor's, unless a fault redirects it. */
  readonly block: Int32Array;
  /** Instants at which the operation began, the array started, and is ready. */
  readonly startedNs: Float64Array;
  readonly arrayFromNs: Float64Array;
  readonly readyNs: Float64Array;
  /** Ns each die has not been idle. */
  readonly busyNs: Float64Array;
  readonly #probe: Probe;

  constructor(dies: number, probe: Probe) {
    this.phase = new Uint8Array(dies);
    this.op = new Int32Array(dies).fill(NONE);
    this.block = new Int32Array(dies);
    this.startedNs = new Float64Array(dies);
    this.arrayFromNs = new Float64Array(dies);
    this.readyNs = new Float64Array(dies);
    this.busyNs = new Float64Array(dies);
    this.#probe = probe;
  }

  /** What a die is doing at an instant. */
  phaseAt(die: number, nowNs: number): DiePhase {
    const phase = this.phase[die] as DiePhase;
    if (phase !== DiePhase.TransferIn) return phase;
    return nowNs < this.arrayFromNs[die]! ? phase : DiePhase.Programming;
  }

  enter(die: number, phase: DiePhase): void {
    const listener = this.#probe.listener;
    if (listener !== null) listener.note(ProbeKind.DiePhase, die, this.phase[die]!, phase);
    this.phase[die] = phase;
  }

  begin(die: number, op: number, nowNs: number): void {
    this.op[die] = op;
    this.startedNs[die] = nowNs;
  }

  /** The die never becomes ready: it stays where the operation begins until it is given up. */
  hang(die: number, kind: FlashOp, untilNs: number): void {
    this.enter(die, FIRST_PHASE[kind]);
    this.arrayFromNs[die] = untilNs;
    this.readyNs[die] = untilNs;
  }

  end(die: number, nowNs: number): void {
    this.enter(die, DiePhase.Idle);
    this.op[die] = NONE;
    this.busyNs[die] = this.busyNs[die]! + nowNs - this.startedNs[die]!;
  }

  /** Loss of power: a program or erase that the array works on stops where it is. */
  cutShort(die: number, ops: FlashOps, cells: DieCells, nowNs: number): void {
    const op = this.op[die]!;
    const fromNs = this.arrayFromNs[die]!;
    if (op === NONE || nowNs <= fromNs) return;
    const fraction = Math.min(1, (nowNs - fromNs) / (this.readyNs[die]! - fromNs));
    const block = this.block[die]!;
    const kind = ops.op[op] as FlashOp;
    if (kind === FlashOp.Program) cells.programInterrupted(block, ops.page[op]!, op, fraction);
    else if (kind === FlashOp.Erase) cells.eraseInterrupted(block, fraction);
  }

  reset(): void {
    this.phase.fill(DiePhase.Idle);
    this.op.fill(NONE);
    this.busyNs.fill(0);
  }

  save(): Saved {
    return {
      phase: this.phase.slice(),
      op: this.op.slice(),
      block: this.block.slice(),
      startedNs: this.startedNs.slice(),
      arrayFromNs: this.arrayFromNs.slice(),
      readyNs: this.readyNs.slice(),
      busyNs: this.busyNs.slice(),
    };
  }

  restore(saved: Saved): void {
    this.phase.set(saved.phase as Uint8Array);
    this.op.set(saved.op as Int32Array);
    this.block.set(saved.block as Int32Array);
    this.startedNs.set(saved.startedNs as Float64Array);
    this.arrayFromNs.set(saved.arrayFromNs as Float64Array);
    this.readyNs.set(saved.readyNs as Float64Array);
    this.busyNs.set(saved.busyNs as Float64Array);
  }
}
