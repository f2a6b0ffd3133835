/**
 * Roots of an error locator: which bits are wrong.
 *
 * A Chien search tries all positions of the codeword. Here Berlekamp's trace algorithm splits the
 * polynomial f instead, at a cost that depends on its degree d alone. x^(2^m) = x modulo f holds
 * exactly when f has d distinct roots in GF(2^m); where it fails, the codeword is uncorrectable.
 * The m squarings on the way also give the traces Tr(b x) modulo f, whose common divisors with f
 * split it into the roots of trace 0 and of trace 1. With b running through the powers 1, alpha,
 * alpha^2, ... all roots come apart; factors of degree 2 are solved by table.
 */

import type { Galois } from './galois.ts';

export class RootFinder {
  /** Roots found by the last `find`, in no particular order. */
  readonly roots: Uint16Array;
  readonly #field: Galois;
  readonly #quadratic: Uint16Array;
  readonly #room: number;
  /** Coefficients of the monic factors of f, leading ones left out, one behind the other. */
  readonly #factors: Uint16Array;
  /** x^(2^j) modulo f for j = 0 to m, `room` coefficients each. */
  readonly #squares: Uint16Array;
  /** x^(2k) modulo f for 2k = d to 2d - 2, `room` coefficients each. */
  readonly #powers: Uint16Array;
  /** Tr(alpha^i x) modulo f, `room` coefficients each; the first `#traceCount` are valid. */
  readonly #traces: Uint16Array;
  readonly #dividend: Uint16Array;
  readonly #divisor: Uint16Array;
  readonly #quotient: Uint16Array;
  #traceCount = 0;
  #rootCount = 0;

  /** @param t highest degree */
  constructor(field: Galois, t: number) {
    this.#field = field;
    this.#quadratic = field.quadraticRoots();
    this.#room = t + 1;
    this.roots = new Uint16Array(t);
    this.#factors = new Uint16Array(t);
    this.#squares = new Uint16Array((field.m + 1) * this.#room);
    this.#powers = new Uint16Array(this.#room * this.#room);
    this.#traces = new Uint16Array(field.m * this.#room);
    this.#dividend = new Uint16Array(this.#room);
    this.#divisor = new Uint16Array(this.#room);
    this.#quotient = new Uint16Array(this.#room);
  }

  /**
   * Finds the roots of a polynomial of degree 1 to t with a constant term other than zero. Returns
   * whether it has as many distinct roots in the field as its degree says; they are in `roots`.
   */
  find(polynomial: Uint16Array, degree: number): boolean {
    const { log, antilog, order } = this.#field;
    const inverseLog = order - log[polynomial[degree]!]!;
    for (let i = 0; i < degree; i++) {
      this.#factors[i] = antilog[log[polynomial[i]!]! + inverseLog]!;
    }
    this.#rootCount = 0;
    this.#traceCount = 0;
    if (degree > 2) {
      this.#fillPowers(degree);
      if (!this.#fillSquares(degree)) return false;
    }
    return this.#split(0, degree, degree, 0);
  }

  /** Finds the roots of the factor at `at`; `f` is the degree of the whole polynomial. */
  #split(at: number, degree: number, f: number, firstTrace: number): boolean {
    const factors = this.#factors;
    if (degree === 1) {
      this.roots[this.#rootCount++] = factors[at]!;
      return true;
    }
    if (degree === 2) return this.#solveQuadratic(factors[at + 1]!, factors[at]!);
    for (let trace = firstTrace; trace < this.#field.m; trace++) {
      const part = this.#divideByTrace(at, degree, f, trace);
      if (part === 0) continue;
      return (
        this.#split(at, part, f, trace + 1) && this.#split(at + part, degree - part, f, trace + 1)
      );
    }
    return false;
  }

  /** Both roots of x^2 + b x + c: x = b y turns it into y^2 + y = c / b^2. */
  #solveQuadratic(b: number, c: number): boolean {
    if (b === 0) return false;
    const { log, antilog, order } = this.#field;
    const ratio = antilog[(log[c]! + 2 * (order - log[b]!)) % order]!;
    const y = this.#quadratic[ratio]!;
    if (y === 0) return false;
    this.roots[this.#rootCount++] = antilog[log[b]! + log[y]!]!;
    this.roots[this.#rootCount++] = antilog[log[b]! + log[y ^ 1]!]!;
    return true;
  }

  #fillPowers(degree: number): void {
    const { log, antilog } = this.#field;
    const factors = this.#factors;
    const powers = this.#powers;
    // Row k holds x^(degree + k): each is x times the one before, reduced.
    for (let i = 0; i < degree; i++) powers[i] = factors[i]!;
    for (let row = this.#room; row < (degree - 1) * this.#room; row += this.#room) {
      const before = row - this.#room;
      const topLog = log[powers[before + degree - 1]!]!;
      powers[row] = antilog[topLog + log[factors[0]!]!]!;
      for (let i = 1; i < degree; i++) {
        powers[row + i] = powers[before + i - 1]! ^ antilog[topLog + log[factors[i]!]!]!;
      }
    }
  }

  /** Whether x^(2^m) = x modulo f. */
  #fillSquares(degree: number): boolean {
    const { m } = this.#field;
    const squares = this.#squares;
    squares.fill(0, 0, degree);
    squares[1] = 1;
    for (let j = 1; j <= m; j++) this.#square((j - 1) * this.#room, j * this.#room, degree);
    const last = m * this.#room;
    for (let i = 0; i < degree; i++) {
      if (squares[last + i] !== (i === 1 ? 1 : 0)) return false;
    }
    return true;
  }

  #square(from: number, to: number, degree: number): void {
    const { log, antilog } = this.#field;
    const squares = this.#squares;
    const powers = this.#powers;
    squares.fill(0, to, to + degree);
    for (let i = 0; i < degree; i++) {
      const coefficient = squares[from + i]!;
      if (coefficient === 0) continue;
      const squared = antilog[2 * log[coefficient]!]!;
      if (2 * i < degree) {
        squares[to + 2 * i]! ^= squared;
        continue;
      }
      const row = (2 * i - degree) * this.#room;
      const squaredLog = log[squared]!;
      for (let k = 0; k < degree; k++) {
        squares[to + k]! ^= antilog[squaredLog + log[powers[row + k]!]!]!;
      }
    }
  }

  #fillTrace(trace: number, degree: number): void {
    const { m, log, antilog, order } = this.#field;
    const row = trace * this.#room;
    this.#traces.fill(0, row, row + degree);
    for (let j = 0; j < m; j++) {
      const factorLog = (trace * 2 ** j) % order;
      for (let i = 0; i < degree; i++) {
        this.#traces[row + i]! ^= antilog[factorLog + log[this.#squares[j * this.#room + i]!]!]!;
      }
    }
  }

  /**
   * Replaces a factor by its common divisor with a trace and the rest, in this order and in its own
   * room. Returns the degree of the first, or 0 when the trace does not split the factor.
   */
  #divideByTrace(at: number, degree: number, f: number, trace: number): number {
    while (this.#traceCount <= trace) this.#fillTrace(this.#traceCount++, f);
    const row = trace * this.#room;
    for (let i = 0; i < f; i++) this.#dividend[i] = this.#traces[row + i]!;
    for (let i = 0; i < degree; i++) this.#divisor[i] = this.#factors[at + i]!;
    const part = this.#commonDivisor(f - 1, degree);
    if (part === 0 || part === degree) return 0;

    for (let i = 0; i < degree; i++) this.#dividend[i] = this.#factors[at + i]!;
    this.#dividend[degree] = 1;
    this.#reduce(degree, part);
    const rest = degree - part;
    for (let i = 0; i < part; i++) this.#factors[at + i] = this.#divisor[i]!;
    for (let i = 0; i < rest; i++) this.#factors[at + part + i] = this.#quotient[i]!;
    return part;
  }

  /**
   * Euclid on `#dividend` and the monic `#divisor`. Returns the degree of the greatest common
   * divisor, which is in `#divisor`, monic and without its leading term.
   */
  #commonDivisor(dividendDegree: number, divisorDegree: number): number {
    const { log, antilog, order } = this.#field;
    const dividend = this.#dividend;
    const divisor = this.#divisor;
    let high = dividendDegree;
    let low = divisorDegree;
    let rest = this.#remainderDegree(high, low);
    while (rest > 0) {
      // The rest, made monic, becomes the divisor, and the divisor the dividend.
      const inverseLog = order - log[dividend[rest]!]!;
      for (let i = 0; i < rest; i++) {
        const coefficient = antilog[log[dividend[i]!]! + inverseLog]!;
        dividend[i] = divisor[i]!;
        divisor[i] = coefficient;
      }
      for (let i = rest; i < low; i++) dividend[i] = divisor[i]!;
      dividend[low] = 1;
      high = low;
      low = rest;
      rest = this.#remainderDegree(high, low);
    }
    return rest < 0 ? low : 0;
  }

  /** Reduces the dividend by the divisor. Returns the degree of the rest; -1 when there is none. */
  #remainderDegree(high: number, low: number): number {
    this.#reduce(high, low);
    let degree = Math.min(high, low - 1);
    while (degree >= 0 && this.#dividend[degree] === 0) degree--;
    return degree;
  }

  /**
   * Divides the dividend, of degree `high`, by the monic divisor, of degree `low`. The remainder
   * takes the dividend's place; the quotient goes to `#quotient`.
   */
  #reduce(high: number, low: number): void {
    const { log, antilog } = this.#field;
    const dividend = this.#dividend;
    const divisor = this.#divisor;
    for (let top = high; top >= low; top--) {
      const coefficient = dividend[top]!;
      this.#quotient[top - low] = coefficient;
      if (coefficient === 0) continue;
      const coefficientLog = log[coefficient]!;
      for (let i = 0, to = top - low; i < low; i++, to++) {
        dividend[to]! ^= antilog[coefficientLog + log[divisor[i]!]!]!;
      }
    }
  }
}
