/**
 * A power of a growing quantity by table: (scale * x)^exponent for x up to 2^32.
 *
 * Between the nodes, 64 to an octave, it is a straight line, and below 1 the line to 0: within
 * 0.03 % of the power for exponents up to 3.4 (above x = 1) and rising wherever x rises, down to
 * the last bit. What is monotone stays monotone, which a rounded power would not promise.
 */

import { exactPow } from './exact-math.ts';

const STEP_BITS = 6;
const STEPS = 1 << STEP_BITS;
const OCTAVES = 32;
const X_MAX = 2 ** 32 - 1;
/** What brings an octave to 64..128. */
const TO_STEPS = Float64Array.from({ length: OCTAVES }, (_, octave) => 2 ** (6 - octave));

export class PowerTable {
  /** The power at each node, and at 2^32. */
  readonly values = new Float64Array(OCTAVES * STEPS + 1);
  /** The power at 2^i: no x below 2^i has more. */
  readonly #octaves = new Float64Array(OCTAVES + 1);
  readonly #position = new Float64Array(1);

  constructor(exponent: number, scale: number) {
    for (let i = 0; i < this.values.length; i++) {
      const x = 2 ** Math.floor(i / STEPS) * (1 + (i % STEPS) / STEPS);
      this.values[i] = exactPow(scale * x, exponent);
      if (i % STEPS === 0) this.#octaves[i / STEPS] = this.values[i]!;
    }
  }

  /** The power at the next power of two above x: never less than `at(x)`, and quick. */
  above(x: number): number {
    return this.#octaves[x > X_MAX ? OCTAVES : 32 - Math.clz32(x)]!;
  }

  /** The power at x >= 0; x above 2^32 counts as 2^32. */
  at(x: number): number {
    this.#position[0] = x;
    this.replace(this.#position, 0);
    return this.#position[0]!;
  }

  /**
   * Replaces the x in a cell by its power. A call that takes or returns a fraction allocates it
   * wherever the engine did not inline the call; this one does not.
   */
  replace(cells: Float64Array, cell: number): void {
    const { values } = this;
    let x = cells[cell]!;
    if (x < 1) {
      cells[cell] = x * values[0]!;
      return;
    }
    if (x > X_MAX) x = X_MAX;
    const octave = 31 - Math.clz32(x >>> 0);
    const place = x * TO_STEPS[octave]!;
    const step = place | 0;
    const index = ((octave - 1) << STEP_BITS) + step;
    const low = values[index]!;
    cells[cell] = low + (values[index + 1]! - low) * (place - step);
  }
}
