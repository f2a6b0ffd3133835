/**
 * Performance mode: whether a fresh superblock takes LSB pages only.
 *
 * While erased superblocks are plentiful the host frontier opens LSB-only superblocks. When they
 * run out the drive reorganises: collection folds pairs of LSB-only superblocks into full ones
 * (they have the fewest valid slots, so greedy choice finds them first) and the host writes full
 * ones. When no LSB-only superblock is left it is in storage mode, until enough superblocks are
 * erased again.
 */

import { ControlMachine, type MachineTable } from '../../hal/sim/state-machine.ts';
import type { Board } from '../board.ts';
import { SuperblockState, type Superblocks } from './superblocks.ts';

export enum WriteMode {
  Performance,
  Reorganise,
  Storage,
}

export enum WriteModeEvent {
  ErasedShort,
  Folded,
  ErasedPlenty,
}

export const WRITE_MODE_TABLE: MachineTable = {
  name: 'write-mode',
  states: WriteMode,
  events: WriteModeEvent,
  initial: WriteMode.Performance,
  transitions: [
    {
      from: WriteMode.Performance,
      on: WriteModeEvent.ErasedShort,
      to: WriteMode.Reorganise,
      says: 'erased superblocks have run out: fold the half-used ones',
    },
    {
      from: WriteMode.Reorganise,
      on: WriteModeEvent.Folded,
      to: WriteMode.Storage,
      says: 'no half-used superblock is left',
    },
    {
      from: WriteMode.Reorganise,
      on: WriteModeEvent.ErasedPlenty,
      to: WriteMode.Performance,
      says: 'trims have given back enough while folding',
    },
    {
      from: WriteMode.Storage,
      on: WriteModeEvent.ErasedPlenty,
      to: WriteMode.Performance,
      says: 'collection or trims have given back enough',
    },
  ],
};

export class PerformanceMode {
  readonly machine: ControlMachine;
  readonly #superblocks: Superblocks;
  readonly #board: Board;

  constructor(board: Board, superblocks: Superblocks, machineNumber: number) {
    this.#board = board;
    this.#superblocks = superblocks;
    this.machine = new ControlMachine(WRITE_MODE_TABLE, machineNumber, board.probe);
  }

  get mode(): WriteMode {
    return this.machine.state;
  }

  /** After mount: goes on in the mode the checkpoint was written in. */
  resume(mode: WriteMode): void {
    this.machine.restore({ state: mode });
  }

  /** Decides for the superblock the host frontier opens next. */
  opensLsbOnly(): boolean {
    this.review();
    return this.#board.profile.policy.performanceMode && this.mode === WriteMode.Performance;
  }

  /** Follows the number of erased superblocks; called when one is opened or erased. */
  review(): void {
    const { policy } = this.#board.profile;
    const free = this.#superblocks.freeCount;
    if (this.mode === WriteMode.Performance) {
      if (free <= policy.freeSuperblocksLow) this.machine.dispatch(WriteModeEvent.ErasedShort);
    } else if (free >= policy.freeSuperblocksHigh) {
      this.machine.dispatch(WriteModeEvent.ErasedPlenty);
    } else if (this.mode === WriteMode.Reorganise && !this.#hasHalfUsed()) {
      this.machine.dispatch(WriteModeEvent.Folded);
    }
  }

  #hasHalfUsed(): boolean {
    const { state, lsbOnly, count } = this.#superblocks;
    for (let i = 0; i < count; i++) {
      if (lsbOnly[i] === 1 && state[i] === SuperblockState.Closed) return true;
    }
    return false;
  }
}
