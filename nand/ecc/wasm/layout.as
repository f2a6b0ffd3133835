/**
 * Where things lie in the memory of the BCH module. The caller reads these addresses from the
 * exported globals, fills the tables and places codewords; nothing is ever moved.
 *
 * Sizes are those of the largest code: GF(2^14), parity of 512 bits (t = 36), 2047-byte codewords.
 */

/** Elements of GF(2^14) but zero. */
export const ORDER: i32 = 16383;
export const M: i32 = 14;
/** Room for one remainder: four vectors of 16 bytes. */
export const REMAINDER_BYTES: i32 = 64;
/** Room for the odd syndromes of t = 36 in whole vectors: five of them. */
export const SYNDROME_ROW_BYTES: i32 = 80;
/** Half words in one row of the polynomials below. */
export const ROOM: i32 = 40;
export const ROW: usize = 80;

/** The codeword: data, parity behind it, then room that a 64-byte load may touch. */
export const CODEWORD: usize = 1024;
/** Ones where a received parity has bits, 64 bytes. */
export const PARITY_MASK: usize = CODEWORD + 2176;
export const REMAINDER: usize = PARITY_MASK + 64;
/** Bit indexes of the errors found, in rising order; i32. */
export const ERRORS: usize = REMAINDER + 64;
/** Odd syndromes, five vectors. */
export const ODD: usize = ERRORS + 160;
/** Syndromes 1 to 2t and their logarithms; u16. */
export const SYNDROMES: usize = ODD + 80;
export const SYNDROME_LOGS: usize = SYNDROMES + 160;
/** Error locator, the one before its degree last rose, and its copy during a step; u16. */
export const LOCATOR: usize = SYNDROME_LOGS + 160;
export const PREVIOUS: usize = LOCATOR + ROW;
export const SPARE: usize = PREVIOUS + ROW;
/** Monic factors of the locator without their leading terms; u16. */
export const FACTORS: usize = SPARE + ROW;
export const ROOTS: usize = FACTORS + ROW;
export const DIVIDEND: usize = ROOTS + ROW;
export const DIVISOR: usize = DIVIDEND + ROW;
export const QUOTIENT: usize = DIVISOR + ROW;
/** x^(2^j) modulo the locator for j = 0 to 14. */
export const SQUARES: usize = QUOTIENT + ROW;
/** x^(d + k) modulo the locator of degree d. */
export const POWERS: usize = SQUARES + 15 * ROW;
/** Traces Tr(alpha^i x) modulo the locator. */
export const TRACES: usize = POWERS + 36 * ROW;

/** The four tables of the division, 256 remainders each, as bytes in the order of the codeword. */
export const SLICES: usize = 16384;
/** What each half byte of the first part's remainder is worth behind the second part. */
export const JOINS: usize = SLICES + 4 * 256 * 64;
/** What each half byte of the remainder contributes to the odd syndromes. */
export const SYNDROME_TABLE: usize = JOINS + 128 * 16 * 64;
/** Logarithms; 16384 entries of u16. */
export const LOG: usize = SYNDROME_TABLE + 128 * 16 * 80;
/** Antilogarithms; 4 * 16383 + 1 entries of u16. */
export const ANTILOG: usize = LOG + 32768;
/** Solutions of y^2 + y = c; 16384 entries of u16. */
export const QUADRATIC: usize = ANTILOG + 131072;
