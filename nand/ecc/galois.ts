/**
 * The Galois fields GF(2^m) in which a BCH code does its arithmetic.
 *
 * An element is an integer whose bit i is the coefficient of alpha^i; addition is XOR, and a
 * product is the antilogarithm of a sum of logarithms. The logarithm of zero is a value so large
 * that every sum with it lands in a stretch of zeros of the antilogarithm table: products need no
 * branch.
 */

export const SMALLEST_FIELD = 5;
export const LARGEST_FIELD = 15;

/**
 * Primitive polynomials for m = 5 to 15, bit i the coefficient of x^i: those with the fewest terms,
 * the usual choice (Lin and Costello, Error Control Coding, table 2.7), as in the Linux kernel.
 */
const PRIMITIVE_POLYNOMIALS = [
  0x25, 0x43, 0x83, 0x11d, 0x211, 0x409, 0x805, 0x1053, 0x201b, 0x402b, 0x8003,
] as const;

/** The primitive polynomial of GF(2^m). Throws a RangeError for an m without one. */
export function primitivePolynomial(m: number): number {
  const polynomial = PRIMITIVE_POLYNOMIALS[m - SMALLEST_FIELD];
  if (polynomial !== undefined) return polynomial;
  throw new RangeError(`GF(2^m): m is ${SMALLEST_FIELD} to ${LARGEST_FIELD}, not ${m}`);
}

export class Galois {
  readonly m: number;
  /** Number of elements but zero, 2^m - 1: alpha^order = 1. */
  readonly order: number;
  /** Logarithm of each element to the base alpha; of zero, twice the order. */
  readonly log: Uint16Array;
  /** alpha^i for i below twice the order; zeros from there on, to four times the order. */
  readonly antilog: Uint16Array;

  /** Throws a RangeError unless m is 5 to 15. */
  constructor(m: number) {
    const polynomial = primitivePolynomial(m);
    this.m = m;
    this.order = 2 ** m - 1;
    this.log = new Uint16Array(2 ** m);
    this.antilog = new Uint16Array(4 * this.order + 1);
    let element = 1;
    for (let exponent = 0; exponent < this.order; exponent++) {
      this.log[element] = exponent;
      this.antilog[exponent] = element;
      this.antilog[exponent + this.order] = element;
      element <<= 1;
      if (element > this.order) element ^= polynomial;
    }
    this.log[0] = 2 * this.order;
  }

  /** alpha to a power of zero or more. */
  power(exponent: number): number {
    return this.antilog[exponent % this.order]!;
  }

  multiply(a: number, b: number): number {
    return this.antilog[this.log[a]! + this.log[b]!]!;
  }

  /**
   * A solution y of y^2 + y = c for every c, the even one of the pair y and y + 1; 0 where c has
   * none (and for c = 0, whose solutions are 0 and 1). 2^m entries.
   */
  quadraticRoots(): Uint16Array {
    const roots = new Uint16Array(this.order + 1);
    for (let y = 2; y <= this.order; y += 2) roots[this.multiply(y, y) ^ y] = y;
    return roots;
  }
}
