/**
 * The probe: the one way to watch a running machine (law L10).
 *
 * With no listener attached a note costs its caller one comparison. A note is four small integers;
 * what they mean is told by the kind, so nothing is allocated to observe.
 */

export enum ProbeKind {
  /** A cold machine changed state: a = machine number, b = from, c = to. */
  Transition,
  /** Frames of a command are on the link: a = its protocol, b = slot, c = ns they take there. */
  Frame,
  /** A die changed phase: a = die, b = from, c = to. */
  DiePhase,
  /** A flash operation ended: a = operation kind, b = die, c = status. */
  FlashDone,
  /** A core began a task: a = core, b = task, c = operand. */
  Task,
  /** A host command has arrived: a = slot, b = opcode, c = count register. */
  HostCommand,
  /** A host command ended: a = slot, b = status, c = error. */
  HostDone,
  /** A superblock changed state: a = superblock, b = from, c = to. */
  Superblock,
  /** A rule of the flash bus was broken: a = rule, b = die, c = its instant in ns. */
  Violation,
}

/** Receives every note while attached. */
export interface ProbeListener {
  note(kind: ProbeKind, a: number, b: number, c: number): void;
}

export class Probe {
  /** The attached listener, or null: then nothing is observed. */
  listener: ProbeListener | null = null;
}
