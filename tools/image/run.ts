/** What the `bf3 image` commands do: open, run, print, set the exit code. */
import { join } from 'node:path';
import { driveProfile } from '../cli/arguments.ts';
import { formatBytes, formatCount } from '../cli/format.ts';
import { type Progress, startProgress } from '../cli/progress.ts';
import { packageVersion } from '../cli/version.ts';
import { writeAnswerKey } from './answer-key.ts';
import { diffImages } from './diff.ts';
import { ANSWER_KEY_NAME } from './dump-folder.ts';
import { exportImage } from './export.ts';
import type { ImageHeader } from './header.ts';
import { ImageFile } from './image-file.ts';
import { importImage } from './import.ts';
import { imageInfo } from './info.ts';
import { verifyImage } from './verify.ts';

export interface ReportOptions {
  readonly json?: boolean;
  readonly progress?: boolean;
}
export interface ExportCommandOptions extends ReportOptions {
  readonly answerKey?: boolean;
  readonly full?: boolean;
}
export interface ImportOptions extends ReportOptions {
  readonly drive: string;
  readonly seed: string;
}
export interface DiffOptions extends ReportOptions {
  readonly count: number;
}

/** Takes what is printed. */
export type Write = (text: string) => void;

const EXIT_FOUND = 1;
/** Places that are listed for people; `--json` has them all. */
const PLACES_SHOWN = 20;
const toOutput: Write = (text) => {
  process.stdout.write(text);
};

export function runInfo(path: string, options: ReportOptions, write = toOutput): void {
  const info = withImage(path, imageInfo);
  if (options.json === true) {
    write(`${JSON.stringify(info)}\n`);
    return;
  }
  const { header, blocks, eraseCount } = info;
  const { geometry } = header;
  const held = blocks.total - blocks.erased;
  const clean = info.wasClean ? 'cleanly' : 'not closed: the program that wrote it was stopped';
  const mean = eraseCount.mean.toFixed(1);
  const planes = `${geometry.planes} planes, ${geometry.blocksPerDie} blocks a die`;
  printLines(write, [
    `${info.path}: image of a ${header.profile}, version ${info.version}`,
    `made by      ${header.createdBy}`,
    `part         ${header.part}, content ${header.content}, seed ${JSON.stringify(header.seed)}`,
    `geometry     ${geometry.channels} channels x ${geometry.diesPerChannel} dies, ${planes}`,
    `size         ${formatBytes(info.fileBytes)}, on disk ${formatBytes(info.diskBytes)}`,
    `closed       ${clean}; opened for writing ${formatCount(info.openings)} times`,
    `age          ${formatCount(info.minute)} minutes at 30 C`,
    `blocks       ${formatCount(held)} of ${formatCount(blocks.total)} hold something`,
    `             ${blocks.erasing} with an interrupted erase, ${blocks.damaged} damaged`,
    `erase count  ${eraseCount.least} to ${eraseCount.most}, mean ${mean}`,
    ...eraseCount.histogram.map(({ least, most, blocks: count }) => {
      const range = least === most ? `${least}` : `${least}-${most}`;
      return `             ${range.padStart(11)}  ${formatCount(count)} blocks`;
    }),
  ]);
}

export function runVerify(path: string, options: ReportOptions, write = toOutput): void {
  const report = withImage(path, (image) =>
    withProgress(options, 'superblocks', image.geometry.superblocks, (progress) =>
      verifyImage(image, (done) => progress.update(done, 0)),
    ),
  );
  if (report.damage.length > 0) process.exitCode = EXIT_FOUND;
  if (options.json === true) {
    write(`${JSON.stringify(report)}\n`);
    return;
  }
  const { damage, interruptedPages, interruptedErases } = report;
  const slots = `${formatCount(report.checkedSlots)} slots of data compared`;
  printLines(write, [
    `${report.path}: ${formatCount(report.programmedPages)} programmed pages, ${slots}`,
    ...(report.wasClean ? [] : ['the image was not closed by the program that wrote it']),
    ...listOf('interrupted programs', interruptedPages),
    ...listOf('interrupted erases', interruptedErases),
    ...listOf(
      'damaged',
      damage.map(({ what, place, byte }) => `${what} of ${place}, byte ${byte} of the file`),
    ),
    damage.length === 0 ? 'no damage' : `damage in ${formatCount(damage.length)} places`,
  ]);
}

export function runExport(
  path: string,
  folder: string,
  options: ExportCommandOptions,
  write = toOutput,
): void {
  const report = withImage(path, (image) => {
    const { superblocks } = image.geometry;
    const exported = withProgress(options, 'superblocks', superblocks, (progress) =>
      exportImage(image, folder, {
        full: options.full === true,
        onSuperblock: (done) => progress.update(done, 0),
      }),
    );
    if (options.answerKey !== true) return { ...exported, answerKey: null };
    const counts = writeAnswerKey(image, join(folder, ANSWER_KEY_NAME));
    return { ...exported, answerKey: { path: join(folder, ANSWER_KEY_NAME), ...counts } };
  });
  if (options.json === true) {
    write(`${JSON.stringify(report)}\n`);
    return;
  }
  const { answerKey, interruptedPages, damagedPages } = report;
  const pages = `${formatCount(report.programmedPages)} programmed pages`;
  printLines(write, [
    `${folder}: ${report.dies} dumps, ${pages}`,
    ...listOf('interrupted programs, dumped as noise', interruptedPages),
    ...listOf('damaged, dumped as noise', damagedPages),
    ...(answerKey === null ? [] : [`${answerKey.path}: ${formatCount(answerKey.slots)} slots`]),
  ]);
}

export function runImport(
  folder: string,
  path: string,
  options: ImportOptions,
  write = toOutput,
): void {
  const { id: profile, partId: part, geometry } = driveProfile(options.drive);
  const createdBy = `barefoot3 ${packageVersion()}, image import`;
  const header: ImageHeader = {
    ...{ profile, part, content: 'bytes', geometry },
    ...{ seed: options.seed, createdBy },
  };
  const blocks = geometry.channels * geometry.diesPerChannel * geometry.blocksPerDie;
  const report = withProgress(options, 'blocks', blocks, (progress) =>
    importImage(folder, path, header, (done) => progress.update(done, 0)),
  );
  if (options.json === true) {
    write(`${JSON.stringify(report)}\n`);
    return;
  }
  const bits = `${formatCount(report.correctedBits)} bits corrected`;
  printLines(write, [
    `${path}: ${formatCount(report.programmedPages)} programmed pages`,
    `${bits} in ${formatCount(report.correctedPages)} pages`,
    ...listOf('uncorrectable', report.uncorrectablePages),
    ...listOf('data that does not match its checksum', report.wrongPages),
  ]);
}

export function runDiff(a: string, b: string, options: DiffOptions, write = toOutput): void {
  const report = withImage(a, (imageA) =>
    withImage(b, (imageB) =>
      withProgress(options, 'superblocks', imageA.geometry.superblocks, (progress) =>
        diffImages(imageA, imageB, options.count, (done) => progress.update(done, 0)),
      ),
    ),
  );
  const total = report.blocks + report.pages + report.slots;
  if (total > 0) process.exitCode = EXIT_FOUND;
  if (options.json === true) {
    write(`${JSON.stringify(report)}\n`);
    return;
  }
  const { blocks, pages, slots, differences } = report;
  printLines(write, [
    ...differences.flatMap(({ what, place, a: inA, b: inB }) => [
      `${what} ${place}`,
      `  - ${inA}`,
      `  + ${inB}`,
    ]),
    total === 0 ? 'no difference' : `differ: ${blocks} blocks, ${pages} pages, ${slots} slots`,
  ]);
}

function withImage<T>(path: string, use: (image: ImageFile) => T): T {
  const image = ImageFile.open(path, { readOnly: true });
  try {
    return use(image);
  } finally {
    image.close();
  }
}

function withProgress<T>(
  options: ReportOptions,
  unit: string,
  total: number,
  use: (progress: Progress) => T,
): T {
  const silent = options.progress !== true;
  const progress = startProgress({ unit, total, silent });
  try {
    return use(progress);
  } finally {
    progress.finish();
  }
}

function listOf(title: string, places: readonly string[]): string[] {
  if (places.length === 0) return [];
  const shown = places.slice(0, PLACES_SHOWN).map((place) => `  ${place}`);
  const more = places.length - shown.length;
  const rest = more > 0 ? [`  and ${formatCount(more)} more`] : [];
  return [`${formatCount(places.length)} ${title}:`, ...shown, ...rest];
}

function printLines(write: Write, lines: readonly string[]): void {
  write(`${lines.join('\n')}\n`);
}
