/**
 * What a page has been through: all that the error model needs to know of it, as plain numbers.
 *
 * One object is filled again for every read, so that the hot path allocates nothing. What changes
 * from read to read is whole: the engine would allocate every fraction stored in a field.
 */

export class PageHistory {
  /** Block counted over the whole array. */
  blockIndex = 0;
  page = 0;
  /** P/E cycles of the block: whole erases so far. */
  eraseCount = 0;
  /** Whole minutes at 30 C since the page was programmed (equivalentMinutes in arrhenius.ts). */
  ageMinutes = 0;
  /** Reads of the block since the page was programmed; for an erased page since the erase. */
  readCount = 0;
  /** The block's last erase was interrupted: RBER times five. */
  weak = false;
  /** Multiplies the disturb part: 3 to 10 for a page programmed after reads of its open block. */
  disturbFactor = 1;
  /** What a read retry level leaves of the retention part (read-retry.ts). */
  retentionScale = 1;
  /** Added at the end: damage by an interrupted operation (interrupted.ts). */
  extraRber = 0;

  /** Names the page and clears the rest: new, unread, undamaged. */
  place(blockIndex: number, page: number, eraseCount: number): this {
    this.blockIndex = blockIndex;
    this.page = page;
    this.eraseCount = eraseCount;
    this.ageMinutes = 0;
    this.readCount = 0;
    this.weak = false;
    this.disturbFactor = 1;
    this.retentionScale = 1;
    this.extraRber = 0;
    return this;
  }
}
