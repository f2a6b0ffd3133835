/** What `bf3 age` does: moves the retention clock of a served drive or of an image. */
import { equivalentMinutes } from '../../nand/physics/arrhenius.ts';
import { formatCount } from '../cli/format.ts';
import { UsageError } from '../errors.ts';
import { ImageFile } from '../image/image-file.ts';
import { withControl } from '../serve/control-client.ts';
import { checkStorage, type Storage } from './age-control.ts';

export interface AgeOptions {
  readonly days: number;
  /** Temperature in C. */
  readonly temp: number;
  readonly attach?: string;
  readonly image?: string;
  readonly json?: boolean;
}

/** What became of the clock, in whole minutes at 30 C. */
interface Aged {
  readonly agedMinutes: number;
  readonly minute: number;
}

const MINUTES_PER_DAY = 1440;

/**
 * Ages a drive and says how old it is now.
 * @throws UsageError for options that do not fit, RunError when the drive cannot be had
 */
export async function runAge(
  options: AgeOptions,
  write: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<void> {
  const { days, temp: celsius, attach, image } = options;
  if ((attach === undefined) === (image === undefined)) {
    throw new UsageError('say which drive: either --attach SOCKET or --image FILE');
  }
  const storage = { days, celsius };
  const { agedMinutes, minute } = await inOptions(() =>
    attach === undefined ? ageImage(image!, storage) : ageServed(attach, storage),
  );
  if (options.json === true) {
    write(`${JSON.stringify({ ...storage, agedMinutes, minute })}\n`);
    return;
  }
  const lines = [
    `aged by ${days} days at ${celsius} C, which is ${daysText(agedMinutes)} at 30 C`,
    `its age is ${daysText(minute)} at 30 C`,
  ];
  write(`${lines.join('\n')}\n`);
}

async function ageServed(path: string, storage: Storage): Promise<Aged> {
  return withControl(path, async (client) => {
    const { agedMinutes, minute } = await client.ask({ cmd: 'age', ...storage });
    if (typeof agedMinutes === 'number' && typeof minute === 'number') {
      return { agedMinutes, minute };
    }
    throw client.stranger('no age came back');
  });
}

/** The image is opened as a server does, so that it ages for one at a time. */
function ageImage(path: string, storage: Storage): Aged {
  const image = ImageFile.open(path);
  try {
    const { days, celsius } = checkStorage({ ...storage }, image.minute);
    const agedMinutes = equivalentMinutes(days, celsius);
    image.minute += agedMinutes;
    return { agedMinutes, minute: image.minute };
  } finally {
    // That its last writer did not close it stays true.
    if (image.wasClean) image.close();
    else {
      image.sync();
      image.abandon();
    }
  }
}

/** Complaints about fields of the request become complaints about the options. */
async function inOptions<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const said = error.message.replace(/^"days":?/, '--days').replace(/^"celsius"/, '--temp');
    throw new UsageError(said);
  }
}

/** '365 days', '2.50 days', '90 minutes'. */
function daysText(minutes: number): string {
  if (minutes < MINUTES_PER_DAY) return `${minutes} minutes`;
  const days = minutes / MINUTES_PER_DAY;
  return `${Number.isInteger(days) || days >= 100 ? formatCount(days) : days.toFixed(2)} days`;
}
