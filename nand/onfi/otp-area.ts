/**
 * The OTP area: pages 2-31 of block 0 while feature 90h selects it; programming page 1 protects
 * them for good.
 *
 * Pages are written through a register like any other and can only lose ones. Source: Micron's
 * parameter pages (support, start page, protect page, count); one area a die.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import { ERASED_BYTE, type PageRegister } from './page-register.ts';
import { OTP_PAGES, OTP_PROTECT_PAGE, OTP_START_PAGE } from './parameter-page.ts';

export class OtpArea {
  readonly #pageBytes: number;
  /** One entry a page of the area; null is all ones. */
  readonly #pages: (Uint8Array | null)[] = Array.from({ length: OTP_PAGES }, () => null);
  /** No page can be programmed any more. Survives loss of power. */
  protected = false;

  /** @param pageBytes page and spare */
  constructor(pageBytes: number) {
    this.#pageBytes = pageBytes;
  }

  /** Whether an address of the OTP mode exists: the protect page or a page of the area. */
  holds(block: number, page: number): boolean {
    if (block !== 0) return false;
    return page === OTP_PROTECT_PAGE || this.#holdsData(page);
  }

  #holdsData(page: number): boolean {
    return page >= OTP_START_PAGE && page < OTP_START_PAGE + OTP_PAGES;
  }

  load(page: number, register: PageRegister): void {
    register.clear();
    const cells = this.#holdsData(page) ? this.#pages[page - OTP_START_PAGE]! : null;
    if (cells !== null) register.write(0, cells, 0, this.#pageBytes);
  }

  /** Programs a page of the area, or protects all of them. The caller has asked `protected`. */
  program(page: number, register: PageRegister): void {
    if (!this.#holdsData(page)) {
      this.protected = true;
      return;
    }
    const written = new Uint8Array(this.#pageBytes);
    register.read(0, written, 0, this.#pageBytes);
    const cells =
      this.#pages[page - OTP_START_PAGE] ?? new Uint8Array(this.#pageBytes).fill(ERASED_BYTE);
    for (let i = 0; i < cells.length; i++) cells[i] = cells[i]! & written[i]!;
    this.#pages[page - OTP_START_PAGE] = cells;
  }

  save(): Saved {
    const pages = this.#pages.map((page) => (page === null ? null : page.slice()));
    return { pages, protected: this.protected };
  }

  restore(saved: Saved): void {
    (saved.pages as (Uint8Array | null)[]).forEach((page, i) => {
      this.#pages[i] = page === null ? null : page.slice();
    });
    this.protected = saved.protected as boolean;
  }
}
