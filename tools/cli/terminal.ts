/** What the stream at the other end can show. */
import picocolors from 'picocolors';

export type Colours = ReturnType<typeof picocolors.createColors>;

/** As much of a stream as deciding about it needs. */
export interface StreamLike {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * Whether to colour: never with NO_COLOR or TERM=dumb, always with FORCE_COLOR, otherwise only a
 * terminal is coloured (https://no-color.org: any value that is not empty counts).
 */
export function wantsColour(stream: StreamLike, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Colour functions that do nothing when `enabled` is false. */
export function coloursFor(enabled: boolean): Colours {
  return picocolors.createColors(enabled);
}

/** Columns to fill: the terminal's width, held between 80 and 100; 100 in a pipe. */
export function screenWidth(stream: StreamLike): number {
  return Math.min(100, Math.max(80, stream.columns ?? 100));
}
