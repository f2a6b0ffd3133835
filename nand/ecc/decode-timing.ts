/**
 * How long the decoder of a channel keeps the data of a page, beyond the transfer over the bus.
 *
 * The decoder is a pipeline of three stages, each with room for one codeword: syndromes, which are
 * ready with the last byte that the bus delivers; Berlekamp-Massey, some cycles a step; and the
 * Chien search, which tries a few positions a cycle and sends the data on behind it. A codeword
 * without errors leaves after a fixed latency. With errors it passes the stages in full: neither
 * depends on how many there are, as is usual in hardware. A codeword that is given up has passed
 * them too, and is found out by counting roots.
 *
 *   bus        | codeword 0 | codeword 1 | ...  | codeword 7 |
 *   key step                | BM |       | BM | ...          | BM |
 *   search                       | Chien |    | Chien | ...       | Chien |
 *                                                            |<-- latency ->|
 *
 * While a stage needs less time than the bus takes for a codeword, only the last codeword is late.
 */

import { invariant } from '../../hal/sim/invariant.ts';

export interface DecoderParameters {
  /** Errors that a codeword can bear, in bits. */
  readonly t: number;
  /** Bits of a codeword, parity included. */
  readonly codewordBits: number;
  /** Clock of the decoder in MHz. */
  readonly clockMhz: number;
  /** Cycles from the last byte to the verdict on a clean codeword. */
  readonly cleanCycles: number;
  /** Cycles of one of the t steps of Berlekamp-Massey. */
  readonly stepCycles: number;
  /** Positions that the Chien search tries in one cycle. */
  readonly positionsPerCycle: number;
  /** Cycles from the end of the search to the verdict. */
  readonly verdictCycles: number;
  /** What the bus takes for one codeword, in ns. */
  readonly codewordBusNs: number;
}

/**
 * A decoder that keeps up with a bus of 200 MB/s; all assumed, as nothing of the real one is
 * published. 540 cycles of search are 2.7 us, half the 5.4 us that the bus takes for a codeword.
 */
export const DECODER: DecoderParameters = {
  t: 28,
  codewordBits: 8640,
  clockMhz: 200,
  cleanCycles: 8,
  stepCycles: 2,
  positionsPerCycle: 16,
  verdictCycles: 4,
  codewordBusNs: 5400,
};

export class DecodeTiming {
  readonly t: number;
  /**
   * By the errors of the worst codeword, 0 to t, and t + 1 for uncorrectable: ns for one codeword.
   */
  readonly latencyNs: Int32Array;
  /** Likewise: ns by which each further codeword in a row holds up the bus. */
  readonly stallNs: Int32Array;

  constructor(parameters: DecoderParameters = DECODER) {
    const { t, clockMhz, codewordBusNs } = parameters;
    invariant(clockMhz > 0 && parameters.positionsPerCycle > 0, 'a decoder runs');
    const ns = (cycles: number) => Math.ceil((cycles * 1000) / clockMhz);
    const keyCycles = t * parameters.stepCycles;
    const searchCycles = Math.ceil(parameters.codewordBits / parameters.positionsPerCycle);
    const slowestNs = ns(Math.max(keyCycles, searchCycles));
    const dirtyNs = ns(
      parameters.cleanCycles + keyCycles + searchCycles + parameters.verdictCycles,
    );
    this.t = t;
    this.latencyNs = new Int32Array(t + 2).fill(dirtyNs);
    this.stallNs = new Int32Array(t + 2).fill(Math.max(0, slowestNs - codewordBusNs));
    this.latencyNs[0] = ns(parameters.cleanCycles);
    this.stallNs[0] = 0;
  }

  /**
   * Time from the last byte on the bus until a transfer is decoded, in ns.
   *
   * @param worstErrorCount errors of its worst codeword; t + 1 or more, or -1: uncorrectable
   * @param codewords codewords of the transfer, at least 1
   */
  decodeNs(worstErrorCount: number, codewords: number): number {
    const last = this.t + 1;
    const index = worstErrorCount < 0 || worstErrorCount > last ? last : worstErrorCount;
    return this.latencyNs[index]! + (codewords - 1) * this.stallNs[index]!;
  }
}
