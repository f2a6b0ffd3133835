#!/usr/bin/env -S GLIBC_TUNABLES=glibc.malloc.hugetlb=1 node
/** The command line of the emulator; see `bf3 --help`. */
import './cli/engine.ts';
import { endQuietlyOnClosedPipe, main, reportStrayFailures } from './cli/main.ts';

endQuietlyOnClosedPipe();
reportStrayFailures();
process.exitCode = await main(process.argv.slice(2));
