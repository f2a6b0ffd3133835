/**
 * The image of a drive that runs: opened or made, loaded into the drive, followed and closed.
 */
import { statSync } from 'node:fs';
import type { Drive } from '../../firmware/drive.ts';
import { profileById } from '../../firmware/profiles/index.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { packageVersion } from '../cli/version.ts';
import { RunError, UsageError } from '../errors.ts';
import { ImageFollower } from './follower.ts';
import { headerOf, type ImageHeader } from './header.ts';
import { ImageFile } from './image-file.ts';
import { type LoadReport, loadImage } from './load.ts';
import { fileFault } from './positional-file.ts';

/** What the user has asked for; what is missing comes from the image. */
export interface WantedDrive {
  readonly profile?: DriveProfile;
  readonly seed?: string;
}

/** Of a new image when nothing else is asked for. */
export interface NewDrive {
  readonly profile: DriveProfile;
  readonly seed: string;
}

/** Names a list of places up to this length. */
const PLACES_SHOWN = 3;

export class DriveImage {
  readonly file: ImageFile;
  readonly profile: DriveProfile;
  readonly seed: string;
  /** Made just now: the flash is as the factory leaves it. */
  readonly isNew: boolean;
  #drive: Drive | null = null;
  #follower: ImageFollower | null = null;

  /**
   * Opens the image of a drive that holds bytes, or makes one.
   * @throws UsageError when the image is of another drive than the one asked for, RunError when it
   * cannot be had: no image, damaged, cut, of another version, open elsewhere
   */
  static open(path: string, wanted: WantedDrive, standard: NewDrive): DriveImage {
    if (!isThere(path)) {
      const { profile, seed } = { ...standard, ...wanted };
      const file = ImageFile.create(path, headerFor(profile, seed));
      return new DriveImage(file, profile, seed, true);
    }
    const header = headerOf(path);
    const { seed } = header;
    if (wanted.profile !== undefined && wanted.profile.id !== header.profile) {
      const right = 'leave --drive out, or name another file';
      throw new UsageError(
        `--drive ${wanted.profile.id}: ${path} is the flash of a ${header.profile}; ${right}`,
      );
    }
    if (wanted.seed !== undefined && wanted.seed !== seed) {
      const right = 'leave --seed out: it belongs to the flash';
      throw new UsageError(
        `--seed ${JSON.stringify(wanted.seed)}: ${path} has ${JSON.stringify(seed)}; ${right}`,
      );
    }
    const profile = profileById(header.profile);
    if (profile === undefined) {
      throw new RunError(`${path}: header: profile: this program has no drive "${header.profile}"`);
    }
    const file = ImageFile.open(path, { fits: headerFor(profile, seed) });
    return new DriveImage(file, profile, seed, false);
  }

  private constructor(file: ImageFile, profile: DriveProfile, seed: string, isNew: boolean) {
    this.file = file;
    this.profile = profile;
    this.seed = seed;
    this.isNew = isNew;
  }

  /**
   * Loads the image into a drive that is off and was built from the image's profile and seed; from
   * now on the image follows the drive's flash.
   */
  attach(drive: Drive): LoadReport {
    const { store, media } = drive.array;
    const report = loadImage(this.file, store, drive.contents);
    media.clock.startAt(this.file.minute);
    this.#drive = drive;
    this.#follower = new ImageFollower(this.file, store, drive.contents);
    store.follower = this.#follower;
    return report;
  }

  /** Sentences about an image that was not left as it should have been. */
  notices(report: LoadReport): string[] {
    const { file } = this;
    const notices: string[] = [];
    if (file.takenOver !== null) notices.push(file.takenOver);
    if (!file.wasClean) {
      const programs = `${report.interruptedPages.length} pages in the middle of a program`;
      const erases = `${report.interruptedErases.length} blocks in the middle of an erase`;
      const loss = 'for the drive this was a loss of power';
      notices.push(`${file.path} was not closed (${programs}, ${erases}): ${loss}`);
    }
    const { damagedPages, damagedBlocks } = report;
    if (damagedPages.length + damagedBlocks.length > 0) {
      const { geometry } = file;
      const shown = damagedPages.slice(0, PLACES_SHOWN).map((slot) => geometry.describe(slot));
      const what = `${damagedPages.length} pages and ${damagedBlocks.length} blocks are damaged`;
      const places = shown.length === 0 ? '' : ` (${shown.join('; ')})`;
      notices.push(`${file.path}: ${what}${places}; bf3 image verify lists them all`);
    }
    return notices;
  }

  /**
   * Writes the programs that wait to be written together: call it before anybody is told of what
   * the drive has done, so that a killed process takes back nothing that was seen.
   */
  flush(): void {
    this.#follower?.flush();
  }

  /** Writes the retention clock: a drive that was aged stays so. */
  keepClock(): void {
    this.#takeClock();
    this.file.writeClock();
  }

  /**
   * Writes what is still to be written and closes the file. Safe to call twice.
   * @throws RunError when it cannot be written; it is given back all the same
   */
  close(): void {
    try {
      this.#takeClock();
      this.#follower?.sync();
    } catch (error) {
      this.file.abandon();
      throw error;
    } finally {
      if (this.#drive !== null) this.#drive.array.store.follower = null;
      this.#drive = null;
      this.#follower = null;
    }
    this.file.close();
  }

  #takeClock(): void {
    if (this.#drive !== null) this.file.minute = this.#drive.array.media.clock.minute;
  }
}

function headerFor(profile: DriveProfile, seed: string): ImageHeader {
  const { id, partId: part, geometry } = profile;
  const createdBy = `barefoot3 ${packageVersion()}, serve`;
  return { profile: id, part, content: 'bytes', geometry, seed, createdBy };
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new RunError(`cannot open ${path}: ${fileFault(error)}`, { cause: error });
  }
}
