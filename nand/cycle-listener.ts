/**
 * Cycle listener: watches the pins of the flash channels.
 *
 * Bus cycles are never events. With a listener attached, the event that puts an operation on the
 * bus tells its cycles one by one, each with the instant it belongs to; without one nothing is
 * derived, and the same events fire in the same order.
 */

export enum CycleKind {
  /** CLE high, WE# strobes: the value is the opcode. */
  Command,
  /** ALE high, WE# strobes: the value is the byte. */
  Address,
  /** Data into the die: the value is the number of bytes. */
  DataIn,
  /** Data out of the die: the value is the number of bytes. */
  DataOut,
  /** R/B# low: the value is 0. */
  Busy,
}

/** What moves in a data phase, made up when somebody asks. */
export type PageBytes = () => Uint8Array;

export interface CycleListener {
  /**
   * @param die counted over the array; its channel is the geometry's
   * @param atNs instant at which the cycle begins, at or after the present
   * @param ns time that it takes; of Busy the time that R/B# is low
   * @param bytes of a data phase: the raw bytes
   */
  cycle(
    die: number,
    kind: CycleKind,
    value: number,
    atNs: number,
    ns: number,
    bytes: PageBytes | null,
  ): void;
}
