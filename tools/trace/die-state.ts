/** What a die is doing, as one word of text a viewer can show and the decoder can read. */

import { opcodeText } from './command-names.ts';

/** R/B# is high and nothing stands open. */
export const STATE_IDLE = 'IDLE';
/** Data is in, the next command has not come. */
export const STATE_WAIT = 'WAIT';
/** Busy for a reason that no command seen gives. */
export const STATE_BUSY = 'BUSY';

const DATA = /^DATA_(IN|OUT):(\d{1,9})\+?$/;

export function commandState(opcode: number): string {
  return `CMD:${opcodeText(opcode)}`;
}

export function dataState(isOut: boolean, bytes: number): string {
  return `DATA_${isOut ? 'OUT' : 'IN'}:${bytes}`;
}

/** The data phase that a state tells of, null for another state. */
export function dataOfState(state: string): { isOut: boolean; bytes: number } | null {
  const match = DATA.exec(state);
  return match === null ? null : { isOut: match[1] === 'OUT', bytes: Number(match[2]) };
}
