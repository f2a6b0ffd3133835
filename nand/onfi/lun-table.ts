/**
 * The state table of a LUN, as data (law L8).
 *
 * The running code is a `switch` over the state (lun.ts); every move is counted there, and a test
 * holds the counts to this table.
 */

import type { MachineTable } from '../../hal/sim/state-machine.ts';

export enum LunState {
  /** No supply. */
  Off,
  /** Supply is up; R/B# is low until the circuits are. */
  PoweringUp,
  /** Ready, and deaf to all but RESET. */
  AwaitingReset,
  /** RDY and ARDY. */
  Idle,
  /** tRST. */
  Resetting,
  /** tFEAT. */
  FeatureBusy,
  /** tR of parameter page or unique id. */
  Identifying,
  /** tDBSY between the planes of a group, or tOBSY of a refused OTP program. */
  DummyBusy,
  /** tR: cells to cache register. */
  Reading,
  /** tRCBSY: data register to cache register. */
  CacheReadBusy,
  /** RDY without ARDY: cells to data register, while the cache register is read. */
  CacheReading,
  /** tPROG. */
  Programming,
  /** tCBSY: cache register to data register. */
  CacheProgramBusy,
  /** RDY without ARDY: data register to cells, while the cache register is filled. */
  CacheProgramming,
  /** tBERS. */
  Erasing,
}

export enum LunEvent {
  PowerUp,
  PowerLost,
  Reset,
  /** A busy time is over and the array is quiet. */
  BusyOver,
  /** A dummy busy time is over, behind it the array still reads. */
  BusyOverReading,
  /** A dummy busy time is over, behind it the array still programs. */
  BusyOverProgramming,
  /** The operation behind the registers is over. */
  ArrayDone,
  SetOrGetFeature,
  Identify,
  /** 32h, 11h or D1h. */
  QueuePlane,
  /** 30h or 35h. */
  StartRead,
  /** 31h or 3Fh. */
  CacheRead,
  /** 10h. */
  StartProgram,
  /** 15h. */
  CacheProgram,
  /** D0h. */
  StartErase,
}

const S = LunState;
const E = LunEvent;

function row(from: LunState, on: LunEvent, to: LunState, says: string) {
  return { from, on, to, says };
}

/** The rows every powered state has: a reset, and loss of power. */
function common(from: LunState) {
  return [
    row(from, E.Reset, S.Resetting, 'FFh, FCh or FAh'),
    row(from, E.PowerLost, S.Off, 'the supply is gone'),
  ];
}

export const LUN_TABLE: MachineTable = {
  name: 'lun',
  states: LunState,
  events: LunEvent,
  initial: LunState.Off,
  transitions: [
    row(S.Off, E.PowerUp, S.PoweringUp, 'the supply is stable'),
    row(S.PoweringUp, E.BusyOver, S.AwaitingReset, 'R/B# rises'),
    row(S.PoweringUp, E.PowerLost, S.Off, 'the supply is gone'),
    ...common(S.AwaitingReset),
    row(S.Resetting, E.BusyOver, S.Idle, 'tRST over'),
    ...common(S.Resetting),
    row(S.Idle, E.SetOrGetFeature, S.FeatureBusy, 'EEh, EFh'),
    row(S.Idle, E.Identify, S.Identifying, 'ECh, EDh'),
    row(S.Idle, E.QueuePlane, S.DummyBusy, '32h, 11h, D1h, or an OTP program refused'),
    row(S.Idle, E.StartRead, S.Reading, '30h, 35h'),
    row(S.Idle, E.CacheRead, S.CacheReadBusy, '31h, 3Fh'),
    row(S.Idle, E.StartProgram, S.Programming, '10h'),
    row(S.Idle, E.CacheProgram, S.CacheProgramBusy, '15h'),
    row(S.Idle, E.StartErase, S.Erasing, 'D0h'),
    ...common(S.Idle),
    row(S.FeatureBusy, E.BusyOver, S.Idle, 'tFEAT over'),
    ...common(S.FeatureBusy),
    row(S.Identifying, E.BusyOver, S.Idle, 'tR over'),
    ...common(S.Identifying),
    row(S.DummyBusy, E.BusyOver, S.Idle, 'tDBSY over'),
    row(S.DummyBusy, E.BusyOverReading, S.CacheReading, 'tDBSY over, tR is not'),
    row(S.DummyBusy, E.BusyOverProgramming, S.CacheProgramming, 'tDBSY over, tPROG is not'),
    ...common(S.DummyBusy),
    row(S.Reading, E.BusyOver, S.Idle, 'tR over'),
    ...common(S.Reading),
    row(S.CacheReadBusy, E.BusyOver, S.Idle, 'tRCBSY over, nothing follows'),
    row(S.CacheReadBusy, E.BusyOverReading, S.CacheReading, 'tRCBSY over, the next page is sensed'),
    ...common(S.CacheReadBusy),
    row(S.CacheReading, E.ArrayDone, S.Idle, 'the next page waits in the data register'),
    row(S.CacheReading, E.CacheRead, S.CacheReadBusy, '31h, 3Fh'),
    row(S.CacheReading, E.QueuePlane, S.DummyBusy, '32h'),
    ...common(S.CacheReading),
    row(S.Programming, E.BusyOver, S.Idle, 'tPROG over'),
    ...common(S.Programming),
    row(S.CacheProgramBusy, E.BusyOverProgramming, S.CacheProgramming, 'tCBSY over'),
    ...common(S.CacheProgramBusy),
    row(S.CacheProgramming, E.ArrayDone, S.Idle, 'tPROG over'),
    row(S.CacheProgramming, E.QueuePlane, S.DummyBusy, '11h'),
    row(S.CacheProgramming, E.CacheProgram, S.CacheProgramBusy, '15h'),
    row(S.CacheProgramming, E.StartProgram, S.Programming, '10h closes the sequence'),
    ...common(S.CacheProgramming),
    row(S.Erasing, E.BusyOver, S.Idle, 'tBERS over'),
    ...common(S.Erasing),
  ],
};
