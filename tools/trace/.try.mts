import { main } from '/work/main/tools/cli/main.ts';
import * as trace from '/work/main/tools/trace/command.ts';
process.exitCode = await main(process.argv.slice(2), [{heading:'x',modules:[trace]}]);
