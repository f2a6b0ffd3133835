/**
 * A follower of the page store: told of every change of the flash, in the order of the changes.
 *
 * It keeps a second copy of the flash somewhere else, such as in a file. The store calls it at the
 * instant at which a change has become true; it may not change the store.
 */

/** Told by a page store what has been programmed and erased. */
export interface StoreFollower {
  /**
   * Slots have been programmed: their cells are set.
   * @param firstSlot first slot of a page
   * @param count slots that follow one another, whole pages; at most one multi-plane page
   */
  programmed(firstSlot: number, count: number): void;
  /** A block is about to be erased: its cells still hold what it held. */
  beforeErase(blockIndex: number): void;
  /** A block has been erased: its cells are zero and its erase count is the new one. */
  erased(blockIndex: number): void;
}
