/**
 * When answers leave: a few together in one write, because each write to a socket costs more than
 * the emulated work behind it, and wakes the client.
 *
 * Every so often answers are held until nothing has come in for some turns: what has gathered by
 * then is how deep the clients queue. Otherwise half of that is waited for, so that clients and
 * emulator work at the same time; at depth one nothing is ever waited for.
 */

/** Turns without a new request after which the clients wait for us. */
const QUIET_TURNS = 10;
/** Turns that an answer is held at most. */
const HELD_TURNS_MAX = 100;
/** Batches between two looks at the depth. */
const BATCHES_PER_LOOK = 64;

export class AnswerBatch {
  /** Requests that the clients keep under way, as seen last. */
  depth = 1;
  #batches = 0;
  #quietTurns = 0;
  #heldTurns = 0;

  /**
   * Asked once a turn, after the emulator has run.
   * @param hasArrived requests have come in since the last turn
   * @param finished answers that could leave
   * @param isBusy the emulator has not finished what came in
   */
  mayHold(hasArrived: boolean, finished: number, isBusy: boolean): boolean {
    this.#quietTurns = hasArrived ? 0 : this.#quietTurns + 1;
    if (finished === 0) return false;
    const isLook = this.#batches === BATCHES_PER_LOOK;
    const isQuiet = this.#quietTurns >= QUIET_TURNS || ++this.#heldTurns >= HELD_TURNS_MAX;
    if (!isQuiet && (isLook || 2 * finished < this.depth)) return true;
    // Fewer than hoped for, or counted on purpose: that is the depth now.
    if (!isBusy && (isLook || isQuiet)) this.depth = finished;
    this.#batches = isLook ? 0 : this.#batches + 1;
    this.#heldTurns = 0;
    return false;
  }
}
