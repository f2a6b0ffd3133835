/**
 * The state table of a die, as data (law L8).
 *
 * The running code is a `switch` over a typed array (array.ts); a test holds it to this table.
 */

import type { MachineTable } from '../hal/sim/state-machine.ts';

export enum DiePhase {
  /** Ready; R/B# high. */
  Idle,
  /** Command and address cycles, then array to page register (tR). */
  Reading,
  /** Page register to controller. */
  TransferOut,
  /** Command, address and data cycles into the page register. */
  TransferIn,
  /** Page register to array (tPROG). */
  Programming,
  /** Block pair being erased (tBERS). */
  Erasing,
}

export enum DieEvent {
  StartRead,
  StartProgram,
  StartErase,
  ArrayDone,
  TransferDone,
  /** The die has not become ready in time. */
  TimedOut,
}

export const DIE_TABLE: MachineTable = {
  name: 'die',
  states: DiePhase,
  events: DieEvent,
  initial: DiePhase.Idle,
  transitions: [
    { from: DiePhase.Idle, on: DieEvent.StartRead, to: DiePhase.Reading, says: '00h .. 30h' },
    { from: DiePhase.Idle, on: DieEvent.StartProgram, to: DiePhase.TransferIn, says: '80h .. 10h' },
    { from: DiePhase.Idle, on: DieEvent.StartErase, to: DiePhase.Erasing, says: '60h .. D0h' },
    { from: DiePhase.Reading, on: DieEvent.ArrayDone, to: DiePhase.TransferOut, says: 'tR over' },
    { from: DiePhase.TransferOut, on: DieEvent.TransferDone, to: DiePhase.Idle, says: 'data out' },
    { from: DiePhase.TransferIn, on: DieEvent.TransferDone, to: DiePhase.Programming, says: '10h' },
    { from: DiePhase.Programming, on: DieEvent.ArrayDone, to: DiePhase.Idle, says: 'tPROG over' },
    { from: DiePhase.Erasing, on: DieEvent.ArrayDone, to: DiePhase.Idle, says: 'tBERS over' },
    { from: DiePhase.Reading, on: DieEvent.TimedOut, to: DiePhase.Idle, says: 'no answer' },
    { from: DiePhase.TransferIn, on: DieEvent.TimedOut, to: DiePhase.Idle, says: 'no answer' },
    { from: DiePhase.Erasing, on: DieEvent.TimedOut, to: DiePhase.Idle, says: 'no answer' },
  ],
};
