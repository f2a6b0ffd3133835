/**
 * Measures of images: opening 10 GB of flash, and what following the drive costs its writes.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Drive } from '../../firmware/drive.ts';
import { VECTOR_256 } from '../../firmware/profiles/vector.ts';
import { ByteContent } from '../../hal/content/byte-content.ts';
import { PAGES_PER_COMMAND } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import type { CommandSource, HostAdapter } from '../../sata/host/adapter.ts';
import { NOTHING_YET } from '../../sata/host/adapter.ts';
import { DriveImage } from '../image/drive-image.ts';
import { type Figures, median, medians } from './median.ts';
import { serveRates } from './nbd.ts';

const PAGES_PER_WRITE = 32;
const WRITTEN_BYTES = 10e9;
/** Frames of the content store: far fewer than what is written. */
const FRAMES = 65_536;
const SEED = 'bf3';
const STEP_LIMIT = 1e9;

/** Writes one page of bytes over and over, 128 KiB at a time. */
class FillSource implements CommandSource {
  readonly wakeAtNs = 0;
  doneCount = 0;
  readonly #contents: ByteContent;
  readonly #count: number;
  readonly #page: number;
  #next = 0;

  constructor(contents: ByteContent, count: number) {
    this.#contents = contents;
    this.#count = count;
    this.#page = contents.store(new Uint8Array(SLOT_BYTES).fill(0x5a));
  }

  next(adapter: HostAdapter, tag: number): number {
    if (this.#next === this.#count) return NOTHING_YET;
    const sectors = PAGES_PER_WRITE * 8;
    adapter.writeQueued(tag, this.#next++ * sectors, sectors, 0);
    const at = tag * PAGES_PER_COMMAND;
    for (let i = at; i < at + PAGES_PER_WRITE; i++) {
      this.#contents.retain(this.#page);
      adapter.data[i] = this.#page;
    }
    return tag;
  }

  completed(): void {
    this.doneCount++;
  }

  lost(): void {
    this.doneCount++;
  }

  save(): Saved {
    return {};
  }

  restore(): void {}
}

/** Opens an image of a Vector 256 with 10 GB written, and compares served writes. */
export async function measureImage(repeat: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'bf3-bench-'));
  try {
    const path = join(folder, 'open.nand');
    fill(path);
    const opens = Array.from({ length: repeat }, () => ({ imageOpenMs: openMs(path) }));
    rmSync(path);
    const ratios: number[] = [];
    for (let i = 0; i < repeat; i++) {
      const without = await serveRates([]);
      const image = join(folder, `write${i}.nand`);
      const withImage = await serveRates(['--image', image]);
      rmSync(image);
      ratios.push(without / withImage);
    }
    return { ...medians(opens), imageWriteRatio: median(ratios) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fill(path: string): void {
  const image = openImage(path);
  const count = Math.ceil(WRITTEN_BYTES / (PAGES_PER_WRITE * SLOT_BYTES));
  let source: FillSource | null = null;
  const drive = new Drive(VECTOR_256, {
    seed: SEED,
    contents: (machine) => new ByteContent(FRAMES, null, machine),
    source: ({ contents }) => {
      source = new FillSource(contents as ByteContent, count);
      return source;
    },
  });
  image.attach(drive);
  drive.powerOn();
  for (let left = STEP_LIMIT; left > 0; left--) {
    if (source!.doneCount === count || !drive.timeline.step()) break;
  }
  image.close();
}

/** Time to open the image and hand its flash to a drive. */
function openMs(path: string): number {
  const drive = new Drive(VECTOR_256, {
    seed: SEED,
    contents: (machine) => new ByteContent(FRAMES, null, machine),
  });
  const began = process.hrtime.bigint();
  const image = openImage(path);
  image.attach(drive);
  const ms = Number(process.hrtime.bigint() - began) / 1e6;
  image.close();
  return ms;
}

function openImage(path: string): DriveImage {
  return DriveImage.open(path, {}, { profile: VECTOR_256, seed: SEED });
}
