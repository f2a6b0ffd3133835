/**
 * The mirror of a die's cells: what an ONFI die finds behind its registers when its cycles are
 * spelled out.
 *
 * The array itself changes the cells, at the events where operations end. A die that is driven
 * cycle by cycle beside it must come to the same instants and the same status, and fills its
 * registers; it changes nothing.
 */

import type { DieCells } from './die-cells.ts';
import type { DieArray } from './onfi/die-array.ts';
import type { PageRegister } from './onfi/page-register.ts';
import { type RawPages, SlotRegister } from './slot-register.ts';

export class DieMirror implements DieArray {
  readonly #cells: DieCells;
  readonly #pages: RawPages;

  constructor(cells: DieCells, pages: RawPages) {
    this.#cells = cells;
    this.#pages = pages;
  }

  makeRegister(): PageRegister {
    return new SlotRegister(this.#pages);
  }

  load(block: number, page: number, register: PageRegister): void {
    (register as SlotRegister).sense(this.#cells.firstSlotOf(block, page));
  }

  program(block: number, _page: number, _register: PageRegister): boolean {
    return this.#cells.lastWorked(block);
  }

  erase(block: number): boolean {
    return this.#cells.lastWorked(block);
  }

  programInterrupted(): void {}

  eraseInterrupted(): void {}

  readNs(_block: number, page: number): number {
    return this.#cells.readNs(page);
  }

  programNs(block: number, page: number): number {
    return this.#cells.programNs(block, page);
  }

  eraseNs(block: number): number {
    return this.#cells.eraseNs(block);
  }

  isFactoryBad(block: number): boolean {
    return this.#cells.isFactoryBad(block);
  }

  nextPage(block: number): number {
    return this.#cells.nextPage(block);
  }

  programCount(block: number, page: number): number {
    return this.#cells.programCount(block, page);
  }
}
