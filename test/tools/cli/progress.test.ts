/**
 * Goal: the bar shows rate, simulated time and time left on a terminal, and is silent elsewhere.
 * Method: a stream that remembers what was written, and a clock that is set by hand.
 */
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { formatEta, startProgress } from '../../../tools/cli/progress.ts';

/** As much of a terminal as the bar uses. */
function stream(isTTY: boolean): { stream: NodeJS.WriteStream; text: () => string } {
  const through = new PassThrough();
  let written = '';
  through.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  const terminal = Object.assign(through, { isTTY, columns: 100 });
  return {
    stream: terminal as unknown as NodeJS.WriteStream,
    text: () => stripVTControlCharacters(written),
  };
}

describe('progress', () => {
  test('on a terminal: rate, simulated time, time left', () => {
    const { stream: terminal, text } = stream(true);
    let nowMs = 0;
    const progress = startProgress({
      unit: 'operations',
      total: 1000,
      stream: terminal,
      nowMs: () => nowMs,
    });
    nowMs = 2000;
    progress.update(1000, 1_300_000);
    progress.finish();
    progress.finish();
    expect(text()).toContain('0 % | 0 operations/s | 0 ns simulated | -:-- left');
    expect(text()).toContain('100 % | 500 operations/s | 1.30 ms simulated | 0:00 left');
  });

  test.each([
    ['in a pipe', false, {}],
    ['told to be silent', true, { silent: true }],
    ['nothing to do', true, { total: 0 }],
  ])('%s: not a byte', (_, isTTY, more) => {
    const { stream: quiet, text } = stream(isTTY);
    const progress = startProgress({ unit: 'reads', total: 10, stream: quiet, ...more });
    progress.update(10, 1);
    progress.finish();
    expect(text()).toBe('');
  });

  test.each([
    [0, '0:00'],
    [6.2, '0:07'],
    [125, '2:05'],
    [3725, '1:02:05'],
    [Number.NaN, '-:--'],
    [Number.POSITIVE_INFINITY, '-:--'],
  ])('%d s left', (seconds, text) => {
    expect(formatEta(seconds)).toBe(text);
  });
});
