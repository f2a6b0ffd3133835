/** The session record of an image: whether the program that wrote it last has closed it. */
import { crc32Of } from '../../hal/sim/crc.ts';
import { RunError } from '../errors.ts';
import { SESSION_AT, SessionRecord, SessionState } from './format.ts';
import type { PositionalFile } from './positional-file.ts';

export interface Session {
  readonly state: SessionState;
  /** Times the image was opened for writing. */
  readonly openings: number;
  /** Retention clock, in whole minutes at 30 C. */
  readonly minute: number;
}

export function writeSession(file: PositionalFile, session: Session): void {
  const { state, openings, minute } = session;
  const values = { state, openings, minute };
  const crc = crc32Of(SessionRecord.encode({ ...values, crc: 0 }));
  file.write(SESSION_AT, SessionRecord.encode({ ...values, crc }));
}

/** @throws RunError when the record is damaged */
export function readSession(file: PositionalFile): Session {
  const bytes = new Uint8Array(SessionRecord.span);
  file.read(SESSION_AT, bytes);
  const { crc, ...session } = SessionRecord.decode(bytes);
  bytes.fill(0, SessionRecord.offsetOf('crc'));
  const isKnown = session.state === SessionState.Open || session.state === SessionState.Clean;
  if (isKnown && crc === crc32Of(bytes)) return session;
  const right = 'it says whether the image was closed';
  throw new RunError(`${file.path}: byte ${SESSION_AT}: the session record is damaged; ${right}`);
}
