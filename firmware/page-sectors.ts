/**
 * Which sectors of a 4 KiB page a host command touches.
 */

import type { HostPort } from '../hal/ports.ts';
import { WHOLE_SLOT } from '../hal/sim/units.ts';

/** Sectors of page `page` of a slot's command, as bits: bit n is sector n of the page. */
export function sectorsOf(host: HostPort, slot: number, page: number): number {
  const offset = host.offsetSectors[slot]!;
  const end = offset + host.sectors[slot]! - page * 8;
  const mask = end >= 8 ? WHOLE_SLOT : WHOLE_SLOT >> (8 - end);
  return page === 0 ? mask & (WHOLE_SLOT << offset) : mask;
}
