/**
 * Berlekamp-Massey: the shortest polynomial that explains the syndromes, the error locator.
 *
 * Its roots are the inverses of alpha^i for each wrong coefficient x^i. For a binary code every
 * second discrepancy is zero, so t steps are enough (Lin and Costello, section 6.2).
 */

import type { Galois } from './galois.ts';

export class BerlekampMassey {
  /** Coefficients of the locator, constant term first; valid up to the degree found. */
  readonly locator: Uint16Array;
  readonly #t: number;
  readonly #field: Galois;
  readonly #syndromeLog: Uint16Array;
  /** The locator before its degree last rose, and its copy while a step replaces it. */
  #previous: Uint16Array;
  #spare: Uint16Array;

  constructor(field: Galois, t: number) {
    this.#field = field;
    this.#t = t;
    this.#syndromeLog = new Uint16Array(2 * t + 1);
    this.locator = new Uint16Array(t + 1);
    this.#previous = new Uint16Array(t + 1);
    this.#spare = new Uint16Array(t + 1);
  }

  /** Degree of the locator of the errors behind `syndromes[1..2t]`, or -1: more than t errors. */
  locate(syndromes: Uint16Array): number {
    const { log, antilog, order } = this.#field;
    const syndromeLog = this.#syndromeLog;
    const { locator } = this;
    for (let i = 1; i < syndromeLog.length; i++) syndromeLog[i] = log[syndromes[i]!]!;
    locator.fill(0);
    locator[0] = 1;
    this.#previous[0] = 1;
    let degree = 0;
    let previousDegree = 0;
    let previousLog = 0;
    // Power of x that lines the previous locator up with the present discrepancy.
    let shift = 1;
    for (let step = 1; step < 2 * this.#t; step += 2) {
      let discrepancy = syndromes[step]!;
      for (let j = 1; j <= degree; j++) {
        discrepancy ^= antilog[log[locator[j]!]! + syndromeLog[step - j]!]!;
      }
      if (discrepancy !== 0) {
        const newDegree = Math.max(degree, previousDegree + shift);
        if (newDegree > this.#t) return -1;
        const grows = newDegree > degree;
        if (grows) this.#spare.set(locator);
        const factorLog = (log[discrepancy]! + order - previousLog) % order;
        for (let j = 0; j <= previousDegree; j++) {
          locator[j + shift]! ^= antilog[factorLog + log[this.#previous[j]!]!]!;
        }
        if (grows) {
          this.#rotate();
          previousDegree = degree;
          previousLog = log[discrepancy]!;
          degree = newDegree;
          shift = 0;
        }
      }
      shift += 2;
    }
    return locator[degree] === 0 ? -1 : degree;
  }

  #rotate(): void {
    const spare = this.#spare;
    this.#spare = this.#previous;
    this.#previous = spare;
  }
}
