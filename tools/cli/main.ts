/** From arguments to an exit code: the one place that decides what a failure looks like. */
import { CommanderError } from 'commander';
import { RunError, UsageError } from '../errors.ts';
import {
  buildProgram,
  COMMAND_GROUPS,
  type CommandGroup,
  PROCESS_OUTPUT,
  type ProgramOutput,
} from './program.ts';

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/**
 * Runs one command line.
 * @param args what follows the program's name
 * @returns the exit code: 0, 1 or 2, or what the command left in `process.exitCode`
 */
export async function main(
  args: readonly string[],
  groups: readonly CommandGroup[] = COMMAND_GROUPS,
  output: ProgramOutput = PROCESS_OUTPUT,
): Promise<number> {
  try {
    const program = buildProgram(groups, output);
    if (args.length === 0) {
      output.error(program.helpInformation());
      return EXIT_USAGE;
    }
    await program.parseAsync(args, { from: 'user' });
    return typeof process.exitCode === 'number' ? process.exitCode : EXIT_DONE;
  } catch (error) {
    return reportFailure(error, output);
  }
}

/** Tells the user what went wrong, in the form that suits whose mistake it is. */
export function reportFailure(error: unknown, output: ProgramOutput = PROCESS_OUTPUT): number {
  if (error instanceof CommanderError) {
    // Commander has printed its own sentence by now; help and version are no errors.
    return error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE;
  }
  if (error instanceof UsageError || error instanceof RunError) {
    output.error(`bf3: ${error.message}\n`);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  output.error(`${stack}\n\nbf3: this is a bug in the emulator: ${PLEASE_REPORT}\n`);
  return EXIT_FAILED;
}

const PLEASE_REPORT = 'please report it with the command line and the lines above.';

/**
 * A reader that has seen enough (`bf3 dump | head`) closes the pipe: that ends the program without
 * a word. Other stream failures are reported like any failure.
 */
export function endQuietlyOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      process.exit(error.code === 'EPIPE' ? EXIT_DONE : reportFailure(error));
    });
  }
}

/** Failures outside of any command's promise: a timer, a socket, a forgotten await. */
export function reportStrayFailures(): void {
  process.on('uncaughtException', (error) => process.exit(reportFailure(error)));
  process.on('unhandledRejection', (error) => process.exit(reportFailure(error)));
}
