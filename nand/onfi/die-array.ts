/**
 * What lies behind the registers of a die: the cells of its blocks, as the die sees them.
 *
 * The die calls these at the instant an array operation ends (or is cut short). Times are asked for
 * when it starts. Blocks are numbered over the die; the plane is the lowest part of the number.
 */

import type { PageRegister } from './page-register.ts';

export interface DieArray {
  /** A register for one plane. */
  makeRegister(): PageRegister;
  /** Senses a page into a register. */
  load(block: number, page: number, register: PageRegister): void;
  /** Programs a page; false = FAIL. An earlier program shows through: cells only go from 1 to 0. */
  program(block: number, page: number, register: PageRegister): boolean;
  /** Erases a block; false = FAIL. */
  erase(block: number): boolean;
  /** A program was cut short after `fraction` (0 to 1) of its time: page and pair are damaged. */
  programInterrupted(block: number, page: number, register: PageRegister, fraction: number): void;
  /** An erase was cut short after `fraction` (0 to 1) of its time: the block is damaged. */
  eraseInterrupted(block: number, fraction: number): void;
  /** tR, tPROG, tBERS that the next such operation will take. */
  readNs(block: number, page: number): number;
  programNs(block: number, page: number): number;
  eraseNs(block: number): number;
  /** The block left the factory marked bad. */
  isFactoryBad(block: number): boolean;
  /** Lowest page that may still be programmed in rising order. */
  nextPage(block: number): number;
  /** Programs of this page since the last erase. */
  programCount(block: number, page: number): number;
}
