/**
 * Boot: from power good to a drive that answers, as a state machine.
 *
 * Each stage is an ARM task whose cycles are the stage's time; the mount runs as long as its flash
 * reads take. A mount that fails still brings the link up: the drive keeps its identity and
 * answers, but refuses its media.
 */

import type { Geometry } from '../hal/geometry.ts';
import { ControlMachine, type MachineTable } from '../hal/sim/state-machine.ts';
import type { Board } from './board.ts';
import type { Mount } from './ftl/mount.ts';

export enum BootState {
  Off,
  /** The boot ROM loads the firmware image from flash. */
  Rom,
  /** DDR3L training and clearing. */
  DramUp,
  /** Reset, READ ID and SET FEATURES on every die. */
  Identify,
  /** Root, checkpoint, map. */
  Mount,
  /** OOB, speed negotiation, signature. */
  LinkUp,
  Ready,
}

export enum BootEvent {
  PowerGood,
  ImageLoaded,
  DramTrained,
  DiesFound,
  Mounted,
  MountFailed,
  SignatureSent,
  PowerLost,
}

const POWER_LOST = [1, 2, 3, 4, 5, 6].map((from) => ({
  from,
  on: BootEvent.PowerLost,
  to: BootState.Off,
  says: 'the rails have fallen',
}));

export const BOOT_TABLE: MachineTable = {
  name: 'boot',
  states: BootState,
  events: BootEvent,
  initial: BootState.Off,
  transitions: [
    { from: 0, on: BootEvent.PowerGood, to: BootState.Rom, says: 'all rails are up' },
    { from: 1, on: BootEvent.ImageLoaded, to: BootState.DramUp, says: 'firmware runs from SRAM' },
    { from: 2, on: BootEvent.DramTrained, to: BootState.Identify, says: 'memory is usable' },
    { from: 3, on: BootEvent.DiesFound, to: BootState.Mount, says: 'every die has its mode' },
    { from: 4, on: BootEvent.Mounted, to: BootState.LinkUp, says: 'the map is in DRAM' },
    { from: 4, on: BootEvent.MountFailed, to: BootState.LinkUp, says: 'identity without media' },
    { from: 5, on: BootEvent.SignatureSent, to: BootState.Ready, says: 'the host sees a drive' },
    ...POWER_LOST,
  ],
};

/** The boot sequence of the firmware. */
export class Boot {
  readonly machine: ControlMachine;
  readonly #board: Board;
  readonly #stageTask: number;
  /** Dies that have answered with the geometry of the profile. */
  foundDies = 0;

  constructor(board: Board, mount: Mount, machineNumber: number) {
    this.#board = board;
    this.machine = new ControlMachine(BOOT_TABLE, machineNumber, board.probe, {
      [BootEvent.PowerGood]: () => this.#stage(board.profile.boot.romNs),
      [BootEvent.ImageLoaded]: () => this.#stage(board.profile.boot.dramNs),
      [BootEvent.DramTrained]: () => this.#identify(),
      [BootEvent.DiesFound]: () => mount.begin(),
      [BootEvent.Mounted]: () => board.host.linkUp(),
      [BootEvent.MountFailed]: () => board.host.linkUp(),
    });
    this.#stageTask = board.arm.define('boot-stage', 3, 0, { run: () => this.#stageDone() });
  }

  get state(): BootState {
    return this.machine.state;
  }

  powerGood(): void {
    this.machine.dispatch(BootEvent.PowerGood);
  }

  mounted(): void {
    this.machine.dispatch(BootEvent.Mounted);
  }

  mountFailed(): void {
    this.machine.dispatch(BootEvent.MountFailed);
  }

  signatureSent(): void {
    if (this.state === BootState.LinkUp) this.machine.dispatch(BootEvent.SignatureSent);
  }

  powerLost(): void {
    if (this.state !== BootState.Off) this.machine.dispatch(BootEvent.PowerLost);
  }

  #stage(ns: number): void {
    const cycles = Math.round((ns * this.#board.profile.armMegahertz) / 1_000);
    this.#board.arm.post(this.#stageTask, 0, cycles);
  }

  /** The dies answer within the stage; one that says it is another part is left to fail. */
  #identify(): void {
    const { profile, geometry, flash } = this.#board;
    const { resetDiesNs, identifyDieNs } = profile.boot;
    this.foundDies = 0;
    for (let die = 0; die < geometry.dies; die++) {
      const { parameterPage } = flash.identify(die, resetDiesNs + die * identifyDieNs);
      if (isPart(parameterPage, geometry)) this.foundDies++;
    }
    this.#stage(resetDiesNs + identifyDieNs * geometry.dies);
  }

  #stageDone(): void {
    switch (this.state) {
      case BootState.Rom:
        this.machine.dispatch(BootEvent.ImageLoaded);
        return;
      case BootState.DramUp:
        this.machine.dispatch(BootEvent.DramTrained);
        return;
      case BootState.Identify:
        this.machine.dispatch(BootEvent.DiesFound);
        return;
      default:
    }
  }
}

/** Offsets in the ONFI parameter page (ONFI 2.2, 5.7.1). */
const SIGNATURE = [0x4f, 0x4e, 0x46, 0x49];
const PAGE_BYTES_AT = 80;
const PAGES_PER_BLOCK_AT = 92;
const BLOCKS_PER_LUN_AT = 96;

/** The page says that the die is an ONFI part with the geometry of the profile. */
function isPart(page: Uint8Array, geometry: Geometry): boolean {
  const word = (at: number) => page[at]! | (page[at + 1]! << 8) | (page[at + 2]! << 16);
  return (
    SIGNATURE.every((byte, i) => page[i] === byte) &&
    word(PAGE_BYTES_AT) === geometry.pageBytes &&
    word(PAGES_PER_BLOCK_AT) === geometry.pagesPerBlock &&
    word(BLOCKS_PER_LUN_AT) === geometry.blocksPerDie
  );
}
