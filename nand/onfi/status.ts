/**
 * The status register of a LUN (ONFI 2.2, section 5.13): its bits and how they are put together.
 *
 * READ STATUS (70h) gives FAIL and FAILC as the OR of all planes; READ STATUS ENHANCED (78h) gives
 * those of the plane in its row address. FAIL is valid when ARDY is 1, FAILC when RDY is 1.
 */

export enum StatusBit {
  /** The last operation of the LUN failed. */
  Fail = 0x01,
  /** The operation before the last one failed (cache program). */
  FailPrevious = 0x02,
  /** Command specific; 0 in this part. */
  CommandSpecific = 0x08,
  /** The array is ready: no operation runs behind the registers. */
  ArrayReady = 0x20,
  /** The LUN accepts a new command. */
  Ready = 0x40,
  /** WP_n: 1 = not write protected. */
  NotProtected = 0x80,
}

/** Idle, not protected, no failure. */
export const STATUS_GOOD = 0xe0;
/** All planes of a mask. */
export const ALL_PLANES = -1;

/**
 * The status byte.
 *
 * @param ready RDY
 * @param arrayReady ARDY; never 1 while RDY is 0
 * @param notProtected WP_n
 * @param failPlanes mask of planes whose last operation failed
 * @param failPreviousPlanes mask of planes whose operation before that failed
 * @param planes mask of planes that are asked for; ALL_PLANES for 70h
 */
export function composeStatus(
  ready: boolean,
  arrayReady: boolean,
  notProtected: boolean,
  failPlanes: number,
  failPreviousPlanes: number,
  planes: number,
): number {
  let status = 0;
  if (notProtected) status |= StatusBit.NotProtected;
  if (ready) {
    status |= StatusBit.Ready;
    if ((failPreviousPlanes & planes) !== 0) status |= StatusBit.FailPrevious;
    if (arrayReady) {
      status |= StatusBit.ArrayReady;
      if ((failPlanes & planes) !== 0) status |= StatusBit.Fail;
    }
  }
  return status;
}
