/** `bf3 image`: files that hold the flash of a drive. */
import type { Command } from 'commander';
import { wholeNumber } from '../cli/arguments.ts';
import type { DiffOptions, ExportCommandOptions, ImportOptions, ReportOptions } from './run.ts';

const NOTES = `
An image is one sparse file: it is as long as the drive is large, and takes on disk what was
written. Nothing here repairs an image. export writes one raw dump a die (chN.dieM.bin: data and
spare of every page, scrambled and encoded) and manifest.json; import decodes such a folder.

Examples:
  $ bf3 image info drive.nand
  $ bf3 image verify drive.nand --json
  $ bf3 image export drive.nand dumps --answer-key
  $ bf3 image import dumps copy.nand --drive toy
  $ bf3 image diff drive.nand copy.nand

Exit codes:
  0  done; verify: no damage; diff: no difference
  1  a file cannot be had or is damaged; verify found damage, diff a difference
  2  the command line is wrong
`;

const MOST = 2 ** 31;
const PROGRESS = 'how far it is, on the terminal';

/** Adds the command to the program. */
export function register(program: Command): void {
  const image = program
    .command('image')
    .description('look at, check, compare and convert files that hold the flash of a drive')
    .addHelpText('after', NOTES);
  image
    .command('info')
    .argument('<file>', 'image')
    .description('header, sizes, blocks in use, wear')
    .option('--json', 'one object')
    .action(async (file: string, options: ReportOptions) => {
      (await import('./run.ts')).runInfo(file, options);
    });
  image
    .command('verify')
    .argument('<file>', 'image')
    .description('check every checksum; exit code 1 on damage')
    .option('--json', 'one object')
    .option('--progress', PROGRESS)
    .action(async (file: string, options: ReportOptions) => {
      (await import('./run.ts')).runVerify(file, options);
    });
  registerConversions(image);
}

function registerConversions(image: Command): void {
  image
    .command('export')
    .arguments('<file> <folder>')
    .description('write raw dumps with spare and ECC, one a die')
    .option('--answer-key', 'also answer-key.jsonl: every slot, and the newest of every page')
    .option('--full', 'write erased blocks as FFh, not as holes of the files')
    .option('--json', 'one object')
    .option('--progress', PROGRESS)
    .action(async (file: string, folder: string, options: ExportCommandOptions) => {
      (await import('./run.ts')).runExport(file, folder, options);
    });
  image
    .command('import')
    .arguments('<folder> <file>')
    .description('make an image of raw dumps')
    .requiredOption('--drive <name>', 'drive that the dumps are of')
    .option('--seed <text>', 'seed of the flash, as for serve', 'bf3')
    .option('--json', 'one object')
    .option('--progress', PROGRESS)
    .action(async (folder: string, file: string, options: ImportOptions) => {
      (await import('./run.ts')).runImport(folder, file, options);
    });
  image
    .command('diff')
    .arguments('<a> <b>')
    .description('blocks, pages and slots that differ')
    .option('--count <n>', 'differences to list', wholeNumber('--count', 0, MOST), 20)
    .option('--json', 'one object')
    .option('--progress', PROGRESS)
    .action(async (a: string, b: string, options: DiffOptions) => {
      (await import('./run.ts')).runDiff(a, b, options);
    });
}
