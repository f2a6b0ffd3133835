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
