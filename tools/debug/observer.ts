/**
 * The observer: the state transitions of every machine, event by event.
 *
 * Dies, superblocks and the control machines tell the probe. Host slots and cores do not, and a
 * control machine is silent when a mount restores it: those are compared after each event. Attached
 * only while somebody wants transitions; what it knows is derived from the machine and no state.
 */
import type { Drive } from '../../firmware/drive.ts';
import { MachineNumber } from '../../firmware/firmware.ts';
import { SuperblockState } from '../../firmware/ftl/superblocks.ts';
import type { Core } from '../../hal/core.ts';
import { HOST_SLOTS } from '../../hal/ports.ts';
import { ProbeKind, type ProbeListener } from '../../hal/sim/probe.ts';
import type { ControlMachine } from '../../hal/sim/state-machine.ts';
import { DiePhase } from '../../nand/die-table.ts';
import { SlotPhase } from '../../sata/slots.ts';
import { workOfDie, workOfSlot } from '../dump/machines.ts';
import type { MachineKind, Transition } from './machine-name.ts';

/** A core as it was before the event, and the task whose body ran in it. */
interface SeenCore {
  readonly core: Core;
  readonly kind: MachineKind;
  doing: string;
  ran: boolean;
  operand: number;
}

interface SeenMachine {
  readonly machine: ControlMachine;
  readonly kind: MachineKind;
  state: number;
}

export class Observer implements ProbeListener {
  /** Transitions for which it is told what their machine works on; null is none. */
  detailed: ((transition: Transition) => boolean) | null = null;
  readonly #drive: Drive;
  /** Transitions since the last `take`. */
  #transitions: Transition[] = [];
  readonly #phases = new Uint8Array(HOST_SLOTS);
  readonly #cores: readonly SeenCore[];
  /** By MachineNumber. */
  readonly #machines: readonly SeenMachine[];

  constructor(drive: Drive) {
    const { firmware, arm, aragon } = drive;
    const seen = { doing: '', ran: false, operand: 0 };
    this.#drive = drive;
    this.#cores = [
      { core: arm, kind: 'arm', ...seen },
      { core: aragon.core, kind: 'aragon', ...seen },
    ];
    const machines: SeenMachine[] = [];
    machines[MachineNumber.Boot] = { machine: firmware.boot.machine, kind: 'boot', state: 0 };
    machines[MachineNumber.WriteMode] = {
      ...{ machine: firmware.mode.machine, kind: 'write-mode' as const, state: 0 },
    };
    this.#machines = machines;
  }

  /** Begins to observe from the machine's present state. */
  attach(): void {
    this.#drive.probe.listener = this;
    this.#transitions = [];
    this.#look();
  }

  detach(): void {
    if (this.#drive.probe.listener === this) this.#drive.probe.listener = null;
  }

  /** Transitions of the event that has just fired; call it after every event. */
  take(): readonly Transition[] {
    this.#compare();
    if (this.#transitions.length === 0) return NOTHING;
    const taken = this.#transitions;
    this.#transitions = [];
    return taken;
  }

  note(kind: ProbeKind, a: number, b: number, c: number): void {
    switch (kind) {
      case ProbeKind.Transition: {
        const seen = this.#machines[a]!;
        const { states } = seen.machine.table;
        this.#add(seen.kind, -1, states[b]!, states[c]!, nothing);
        seen.state = c;
        return;
      }
      case ProbeKind.DiePhase:
        this.#add('die', a, DiePhase[b]!, DiePhase[c]!, workOfDie);
        return;
      case ProbeKind.Superblock:
        this.#add('superblock', a, SuperblockState[b]!, SuperblockState[c]!, useOfSuperblock);
        return;
      case ProbeKind.Task: {
        const seen = this.#cores[a]!;
        seen.ran = true;
        seen.operand = c;
        return;
      }
      default:
    }
  }

  #add(kind: MachineKind, index: number, from: string, to: string, work: Work): void {
    const { ordinal, nowNs } = this.#drive.timeline;
    const bare: Transition = { ordinal, atNs: nowNs, kind, index, from, to, detail: '' };
    const isDetailed = this.detailed?.(bare) ?? false;
    this.#transitions.push(isDetailed ? { ...bare, detail: work(this.#drive, index) } : bare);
  }

  /** What no note tells: slots, cores, control machines that were restored. */
  #compare(): void {
    const phases = this.#drive.port.slots.phase;
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      const from = this.#phases[slot]!;
      if (phases[slot] === from) continue;
      this.#add('slot', slot, SlotPhase[from]!, SlotPhase[phases[slot]!]!, workOfSlot);
      this.#phases[slot] = phases[slot]!;
    }
    for (const seen of this.#machines) {
      if (seen.machine.state === seen.state) continue;
      const { states } = seen.machine.table;
      this.#add(seen.kind, -1, states[seen.state]!, seen.machine.stateName, restored);
      seen.state = seen.machine.state;
    }
    for (const seen of this.#cores) {
      const { doing } = seen.core;
      const work = seen.ran ? () => `operand ${seen.operand}` : nothing;
      if (seen.ran || doing !== seen.doing) this.#add(seen.kind, -1, seen.doing, doing, work);
      seen.doing = doing;
      seen.ran = false;
    }
  }

  #look(): void {
    this.#phases.set(this.#drive.port.slots.phase);
    for (const seen of this.#machines) seen.state = seen.machine.state;
    for (const seen of this.#cores) {
      seen.doing = seen.core.doing;
      seen.ran = false;
    }
  }
}

const NOTHING: readonly Transition[] = [];

/** Says what a machine works on. */
type Work = (drive: Drive, index: number) => string;

const nothing: Work = () => '';
const restored: Work = () => 'restored by the mount';

function useOfSuperblock({ firmware }: Drive, index: number): string {
  const { validCount, lsbOnly, eraseCount } = firmware.superblocks;
  const pages = lsbOnly[index] === 1 ? ', LSB pages only' : '';
  return `${validCount[index]} valid slots, erased ${eraseCount[index]} times${pages}`;
}
