/**
 * The home of a page: a place outside of memory that holds a page's bytes as long as the flash slot
 * of the same number does.
 *
 * A page with a home needs neither memory nor room in the backing: it is read where it lies. Who
 * keeps the home takes pages back into memory before the slot is erased.
 */

/** Reads pages by the number of the flash slot that they lie in. */
export interface PageHome {
  /** Fills `into` with the 4096 bytes of a slot. */
  read(slot: number, into: Uint8Array): void;
}

/** Stands for 'this page has no home'. */
export const NO_HOME = -1;
