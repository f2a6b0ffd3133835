/** Opens what `dump` and `debug` look into: a snapshot file, or the record of a served drive. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Drive } from '../../firmware/drive.ts';
import { PROFILES, profileById } from '../../firmware/profiles/index.ts';
import { ByteContent } from '../../hal/content/byte-content.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { SnapshotMismatch } from '../../hal/sim/snapshot.ts';
import {
  SnapshotFile,
  SnapshotFileError,
  type SnapshotSource,
} from '../../hal/sim/snapshot-file.ts';
import { RunError, UsageError } from '../errors.ts';
import { readRecord } from '../serve/record.ts';
import { ReplaySource } from '../serve/replay-source.ts';

const SNAPSHOT_MAGIC = 'BF3SNAP\0';
/** A table that only a drive of tags has. */
const TAGS_TABLE = 'mixture-tags';
/** Pages in memory; without a file behind them the bound does not bind. */
const FRAMES = 65_536;

/** What a record stands for: a drive whose power has just come on, and its host's commands. */
export interface RecordedDrive {
  readonly drive: Drive;
  readonly source: ReplaySource;
  /** Last event of the record. */
  readonly endOrdinal: number;
}

export type FileKind = 'snapshot' | 'record';

/**
 * Which of the two a file is, by its first bytes.
 * @throws UsageError when it is neither, RunError when it cannot be read
 */
export function kindOfFile(path: string): FileKind {
  const head = withFile(path, (source) => source.read(0, Math.min(source.size, 64)));
  const text = Buffer.from(head).toString('latin1');
  if (text.startsWith(SNAPSHOT_MAGIC)) return 'snapshot';
  if (text.trimStart().startsWith('{')) return 'record';
  throw new UsageError(`${path} is neither a snapshot nor a record of bf3 serve`);
}

/**
 * The drive of a snapshot file, in the state that was saved.
 * @throws UsageError when it is damaged or of another program, RunError when it cannot be read
 */
export function openSnapshot(path: string): Drive {
  return withFile(path, (source) => {
    try {
      const file = SnapshotFile.open(source);
      const { profile, seed } = file.metadata;
      if (typeof profile !== 'string') {
        throw new UsageError(`${path}: its metadata names no profile: not written by bf3`);
      }
      const holdsBytes = file.tables.every(({ name }) => name !== TAGS_TABLE);
      const drive = new Drive(profileOf(path, profile), {
        ...(typeof seed === 'string' ? { seed } : {}),
        ...(holdsBytes ? { contents: (machine) => new ByteContent(FRAMES, null, machine) } : {}),
      });
      file.restoreInto(drive.machine);
      return drive;
    } catch (error) {
      if (error instanceof SnapshotFileError || error instanceof SnapshotMismatch) {
        throw new UsageError(`${path}: ${error.message}`, { cause: error });
      }
      throw error;
    }
  });
}

/**
 * The drive of a record at its beginning; the commands of that instant are given.
 * @throws UsageError when it is no record, RunError when it cannot be read
 */
export function openRecord(path: string): RecordedDrive {
  const recording = readRecord(path);
  const { profile, seed } = recording.header;
  const source = new ReplaySource(recording);
  const drive = new Drive(profileOf(path, profile), { seed, source: () => source });
  source.attach(drive);
  drive.powerOn();
  source.applyAt(0);
  const endOrdinal = recording.end?.ordinal ?? recording.commands.at(-1)?.at ?? 0;
  return { drive, source, endOrdinal };
}

/**
 * Runs a record from its beginning to just after event `ordinal`.
 * @throws UsageError beyond its end, RunError when the run comes apart from it
 */
export function runRecord({ drive, source, endOrdinal }: RecordedDrive, ordinal: number): void {
  const { timeline } = drive;
  if (ordinal > endOrdinal) {
    throw new UsageError(`the record ends at event ${endOrdinal}: there is no event ${ordinal}`);
  }
  while (timeline.ordinal < ordinal) {
    const stop = Math.min(ordinal, source.nextAfter(timeline.ordinal));
    timeline.runToOrdinal(stop);
    if (timeline.ordinal < stop) {
      throw new RunError(`nothing is pending after event ${timeline.ordinal} of the record`);
    }
    source.applyAt(stop);
  }
}

/** The profile that a file names. */
function profileOf(path: string, name: string): DriveProfile {
  const profile = profileById(name);
  if (profile !== undefined) return profile;
  const names = PROFILES.map(({ id }) => id).join(', ');
  throw new UsageError(`${path}: it is of a drive '${name}'; this program knows ${names}`);
}

/** Gives `use` the file as bytes at offsets; it is closed afterwards. */
function withFile<T>(path: string, use: (source: SnapshotSource) => T): T {
  let file = -1;
  try {
    file = openSync(path, 'r');
    const handle = file;
    return use({
      size: fstatSync(handle).size,
      read: (offset, length) => {
        const bytes = new Uint8Array(length);
        const count = readSync(handle, bytes, 0, length, offset);
        return bytes.subarray(0, count);
      },
    });
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new RunError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error });
  } finally {
    if (file >= 0) closeSync(file);
  }
}

function reasonOf(error: Error & { code?: unknown }): string {
  if (error.code === 'ENOENT') return 'the file or its folder does not exist';
  if (error.code === 'EISDIR') return 'it is a folder';
  if (error.code === 'EACCES') return 'permission denied';
  return error.message;
}
