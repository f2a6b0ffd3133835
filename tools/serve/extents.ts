/** Which parts of the drive are allocated, read off the map from logical to physical pages. */

import { SECTOR_BYTES, SLOT_BYTES } from '../../hal/sim/units.ts';
import { type BackendRequest, ExtentState } from './nbd/backend.ts';

/**
 * Answers a BlockStatus request. A page without a place in the map is a hole that reads as zeroes;
 * pages in the write buffer have a place, so what was acknowledged never looks like a hole.
 * @param map one cell a 4 KiB page, 0 when it is unmapped
 */
export function pushExtents(map: Int32Array, request: BackendRequest): void {
  const end = request.offsetBytes + request.lengthBytes;
  let begin = request.offsetBytes;
  while (begin < end) {
    let page = Math.floor(begin / SLOT_BYTES);
    const lastPage = Math.floor((end - SECTOR_BYTES) / SLOT_BYTES);
    const hole = map[page] === 0;
    while (page < lastPage && (map[page + 1] === 0) === hole) page++;
    const next = Math.min(end, (page + 1) * SLOT_BYTES);
    const state = hole ? ExtentState.HoleZero : ExtentState.Data;
    if (!request.extents.push(next - begin, state)) return;
    begin = next;
  }
}
