/** `bf3 serve`: the emulated drive as a real block device. */
import { type Command, Option } from 'commander';
import { wholeNumber } from '../cli/arguments.ts';
import { byteCount } from '../cli/drive-options.ts';

const EXAMPLES = `
The drive is new and empty at each start; with --image FILE its flash is kept in a file, which is
made when it is not there and says by itself what drive it is of. It speaks NBD, which qemu, fio,
libnbd and the Linux kernel understand. Ctrl+C ends it cleanly: requests are answered, the drive
goes into standby.

Without --realtime the emulator runs as fast as it can while requests are outstanding; with it no
answer comes before the real drive's would. When nothing is outstanding emulated time follows the
clock on the wall.

Examples:
  $ bf3 serve --drive vector-256 --socket /tmp/bf3.sock
  $ bf3 serve --image drive.nand --socket /tmp/bf3.sock
  $ bf3 serve --drive toy --port 10809 --realtime
  $ bf3 serve --drive vector-256 --socket /tmp/bf3.sock --control /tmp/bf3.ctl --record run.ndjson
  $ echo '{"id":1,"cmd":"dump","table":"machines"}' | nc -N -U /tmp/bf3.ctl

Exit codes:
  0  ended by Ctrl+C or SIGTERM, also when the drive has refused its media all the while
  1  the drive stopped by itself, or an address, a file or the image cannot be had
  2  the command line is wrong
`;

const LEAST_MEMORY_BYTES = 2 ** 20;
const MOST_MEMORY_BYTES = 2 ** 40;

/** Adds the command to the program. */
export function register(program: Command): void {
  program
    .command('serve')
    .description('serve the drive as a block device over NBD')
    .option('--drive <name>', 'drive to serve (default: vector-256, or that of the image)')
    .option('--image <file>', 'keep the flash in this file')
    .addOption(new Option('--socket <path>', 'Unix socket to listen on').conflicts('port'))
    .option('--port <n>', 'TCP port to listen on; 0 picks one', wholeNumber('--port', 0, 65535))
    .option('--host <address>', 'address of the port (default: 127.0.0.1)')
    .option('--export <name>', 'name of the export', '')
    .option('--realtime', 'answer when the real drive would, not as fast as possible')
    .addOption(
      new Option('--memory <bytes>', 'memory for written data; the rest goes to a temporary file')
        .argParser(byteCount('--memory', LEAST_MEMORY_BYTES, MOST_MEMORY_BYTES))
        .default(2 * 2 ** 30, '2G'),
    )
    .option('--spill-dir <folder>', "folder of that file (default: the system's)")
    .option('--control <socket>', 'Unix socket for pause, step, dump, save, faults (JSON lines)')
    .option('--record <file>', 'record host commands by event, to replay the run')
    .option('--seed <text>', 'seed of everything random in the drive')
    .option('--json', 'print address and summary as JSON lines')
    .addHelpText('after', EXAMPLES)
    .action(async (options: object) => {
      const { runServe } = await import('./serve.ts');
      await runServe(options as Parameters<typeof runServe>[0]);
    });
}
