/**
 * Transfer protocols: which frames carry a burst of pages, and how long they take on the link.
 *
 * NCQ in: DMA Setup, data. NCQ out: DMA Setup, then DMA Activate before each data frame; the first
 * Activate falls away with auto-activate. DMA in: data. DMA out: Activate and data. PIO: PIO Setup
 * and one data frame a DRQ block, which is one sector. Source: Serial ATA 3.1, transport layer.
 */

import { AtaProtocol } from '../hal/ata.ts';
import { type Link, SECTORS_PER_FRAME } from './link.ts';
import type { Slots } from './slots.ts';

/** Ns of the frames of pages `first` .. `first + count - 1` of a slot's command. */
export function burstNs(
  link: Link,
  slots: Slots,
  slot: number,
  first: number,
  count: number,
  autoActivate: boolean,
): number {
  const sectors = slots.sectorsOfPages(slot, first, count);
  const frames = Math.ceil(sectors / SECTORS_PER_FRAME);
  switch (slots.protocol[slot] as AtaProtocol) {
    case AtaProtocol.NcqIn:
      return (first === 0 ? link.setupNs : 0) + link.dataFramesNs(sectors);
    case AtaProtocol.NcqOut: {
      const activates = first === 0 && autoActivate ? frames - 1 : frames;
      const setupNs = first === 0 ? link.setupNs : 0;
      return setupNs + link.dataFramesNs(sectors) + activates * link.activateNs;
    }
    case AtaProtocol.DmaIn:
      return link.dataFramesNs(sectors);
    case AtaProtocol.DmaOut:
      return link.dataFramesNs(sectors) + frames * link.activateNs;
    case AtaProtocol.PioIn:
    case AtaProtocol.PioOut:
      return sectors * (link.pioSetupNs + link.dataNs[1]!);
    case AtaProtocol.NonData:
      return 0;
  }
}
