/** `bf3 demo`: the first thing to run. */
import type { Command } from 'commander';

const NOTES = `
The capture is a Linux guest on a 512 MiB disk: mkfs.ext4, mount, forty files with fsync, rm,
fstrim, umount, then 32 readers. It is replayed twice on new drives: at the recorded pace, and as
fast as the command queue takes it.

Exit codes:
  0  every read was right
  1  a read was wrong, a command failed, or the picture cannot be written
  2  the command line is wrong
`;

/** Adds the command to the program. */
export function register(program: Command): void {
  program
    .command('demo')
    .description('boot a drive, replay a real capture, get a picture of it')
    .option('--drive <name>', 'drive to boot', 'vector-256')
    .option('--output <file>', 'where the picture goes', 'report.svg')
    .option('--json', "print the results in fio's JSON format, the two runs as two jobs")
    .addHelpText('after', NOTES)
    .action(async (options: { drive: string; output: string; json?: boolean }) => {
      const { runDemo } = await import('./demo.ts');
      runDemo(options);
    });
}
