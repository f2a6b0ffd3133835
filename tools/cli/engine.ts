/**
 * The JavaScript engine's settings for the emulator: imported first by every entry point.
 *
 * The machine is many small methods called once an event. With its default budgets V8 leaves half
 * of them as calls, and the timeline's one dispatch site, which sees some fifteen kinds of owners,
 * as a look-up by name. Larger budgets make the whole about a third faster; results do not change.
 */

import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--max-inlined-bytecode-size=1000');
setFlagsFromString('--max-inlined-bytecode-size-cumulative=4000');
setFlagsFromString('--max-valid-polymorphic-map-count=16');

/**
 * Environment of a process that runs a drive: glibc asks for huge pages for what is large. The
 * tables of a drive are far apart from one command to the next, and with small pages most look-ups
 * miss the translation cache too: a tenth of the speed. The C library reads it when a process
 * starts, so it is set by whoever starts one: `npm start`, the first line of bf3.ts, and the bench.
 * Other C libraries ignore it. See "Memory Allocation Tunables" of the GNU C library's manual.
 */
export const DRIVE_ENVIRONMENT = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' } as const;
