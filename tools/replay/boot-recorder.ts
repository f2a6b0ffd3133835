/** The way from power to ready, with the time spent in each state. */

import { BootState } from '../../firmware/boot.ts';
import type { Drive } from '../../firmware/drive.ts';
import { MachineNumber } from '../../firmware/firmware.ts';
import { ProbeKind, type ProbeListener } from '../../hal/sim/probe.ts';
import { RunError } from '../errors.ts';
import type { BootPhase } from '../report/report.ts';

/** What a drive does in each state, in a few words. */
const PHASE_NAMES: { readonly [state: number]: string } = {
  [BootState.Rom]: 'boot ROM loads image',
  [BootState.DramUp]: 'DRAM training',
  [BootState.Identify]: 'identify dies',
  [BootState.Mount]: 'mount',
  [BootState.LinkUp]: 'link up',
  [BootState.Ready]: 'host probes drive',
};

class BootRecorder implements ProbeListener {
  readonly phases: BootPhase[] = [];
  readonly #drive: Drive;
  #state = BootState.Off;
  #enteredNs: number;

  constructor(drive: Drive) {
    this.#drive = drive;
    this.#enteredNs = drive.timeline.nowNs;
  }

  note(kind: ProbeKind, a: number, _b: number, c: number): void {
    if (kind !== ProbeKind.Transition || a !== MachineNumber.Boot) return;
    this.#leave();
    this.#state = c;
  }

  finish(): BootPhase[] {
    this.#leave();
    return this.phases;
  }

  #leave(): void {
    const { nowNs } = this.#drive.timeline;
    if (this.#state !== BootState.Off) {
      const name = PHASE_NAMES[this.#state] ?? BootState[this.#state] ?? `state ${this.#state}`;
      this.phases.push({ name, durationNs: nowNs - this.#enteredNs });
    }
    this.#enteredNs = nowNs;
  }
}

/**
 * Turns the power on and runs until the host may send commands.
 * @throws RunError when the drive stops before it is ready
 */
export function bootDrive(drive: Drive): BootPhase[] {
  const recorder = new BootRecorder(drive);
  drive.probe.listener = recorder;
  try {
    drive.powerOn();
    while (!drive.isReady) {
      if (!drive.timeline.step() || drive.panic !== null) throw stopped(drive, 'while booting');
    }
  } finally {
    drive.probe.listener = null;
  }
  return recorder.finish();
}

/** The error of a drive that goes no further. */
export function stopped(drive: Drive, when: string): RunError {
  const { panic, timeline } = drive;
  const why = panic === null ? 'no event is pending' : `${panic.task}: ${panic.rule}`;
  return new RunError(`the drive stopped ${when}, at event ${timeline.ordinal}: ${why}`);
}
