/**
 * Measures of the flash model: the code, and what counted errors cost a fresh drive's reads.
 */

import { VECTOR_256 } from '../../firmware/profiles/vector.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { CodewordSet } from '../../nand/ecc/codeword-set.ts';
import { createBch, DRIVE_CODE } from '../../nand/ecc/engine.ts';
import { WorkloadRig } from '../workload/rig.ts';
import { type Figures, median, medians } from './median.ts';

const CODEWORDS = 4_000;
const SPAN_PAGES = 2 * 2 ** 20;
/** Commands of one window, and windows of one repetition: the two drives take turns. */
const WINDOW = 25_000;
const WINDOWS = 12;

/** Clean codewords and codewords of eight errors through the exact engine, on one core. */
export function ecc(repeat: number): Figures {
  const engine = createBch(DRIVE_CODE);
  const clean = new CodewordSet(engine, 0, CODEWORDS);
  const dirty = new CodewordSet(engine, 8, CODEWORDS);
  const seconds = (set: CodewordSet) => {
    const began = process.hrtime.bigint();
    const bytes = set.decodeAll();
    return { seconds: Number(process.hrtime.bigint() - began) / 1e9, bytes };
  };
  for (const set of [clean, dirty]) seconds(set);
  return medians(
    Array.from({ length: repeat }, () => {
      const fast = seconds(clean);
      return {
        eccCleanMBPerSecond: fast.bytes / fast.seconds / 1e6,
        eccCorrect8Microseconds: (seconds(dirty).seconds / CODEWORDS) * 1e6,
      };
    }),
  );
}

/** Time of random reads with counted errors over the time of the same reads without any. */
export function counted(repeat: number): Figures {
  const perfect: DriveProfile = {
    ...VECTOR_256,
    cells: { ...VECTOR_256.cells, bitErrors: false, wear: false },
  };
  const rigs = [filledSpan(perfect), filledSpan(VECTOR_256)] as const;
  const read = (rig: WorkloadRig) =>
    rig.run({ kind: 'read', order: 'random', pages: 1, count: WINDOW, spanPages: SPAN_PAGES })
      .wallSeconds;
  for (const rig of rigs) for (let i = 0; i < 4; i++) read(rig);
  const ratios = Array.from({ length: repeat * WINDOWS }, () => {
    const without = read(rigs[0]);
    return read(rigs[1]) / without;
  });
  return { countedReadRatio: median(ratios) };
}

function filledSpan(profile: DriveProfile): WorkloadRig {
  const rig = new WorkloadRig(profile);
  rig.boot();
  const count = SPAN_PAGES / 32;
  rig.run({ kind: 'write', order: 'sequential', pages: 32, count, spanPages: SPAN_PAGES });
  return rig;
}
