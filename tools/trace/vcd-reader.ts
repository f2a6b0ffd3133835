/**
 * A reader of value change dumps, line by line: it keeps the names of the header and nothing of the
 * run. It reads what IEEE 1364-2005, section 18 calls four-state dumps, and string variables.
 */

import { RunError } from '../errors.ts';

/** Told what the file says, in its order; may throw RunError at what stands in the header. */
export interface VcdHandler {
  comment(text: string): void;
  /** @param path scopes and name, without the bit range */
  variable(id: string, path: readonly string[]): void;
  /** All changes up to the next call happen at this instant. */
  time(ns: number): void;
  /** @param value `0`, `1`, `x`, `z`, bits of a bus, or text */
  change(id: string, value: string): void;
}

const NS_PER_UNIT: Readonly<Record<string, number>> = {
  ...{ s: 1e9, ms: 1e6, us: 1e3, ns: 1, ps: 1e-3, fs: 1e-6 },
};
/** What a time stamp may hold, so that nanoseconds stay exact. */
const DIGITS_MAX = 15;

export class VcdReader {
  readonly #handler: VcdHandler;
  readonly #fileName: string;
  readonly #scopes: string[] = [];
  readonly #ids = new Set<string>();
  /** Units of the file in a nanosecond and back; one of them is a whole number. */
  #nsPerUnit = 0;
  #unitsPerNs = 0;
  #line = 0;
  /** Words of the section that is open, null when none is. */
  #section: string[] | null = null;
  /** Value that waits for its identifier. */
  #value: string | null = null;
  #inBody = false;
  #units = -1;

  constructor(fileName: string, handler: VcdHandler) {
    this.#fileName = fileName;
    this.#handler = handler;
  }

  /** @throws RunError naming file and line when the line is no part of a dump */
  line(text: string): void {
    this.#line++;
    for (const word of text.split(/\s+/)) if (word !== '') this.#word(word);
  }

  /** @throws RunError when the file ends too early */
  end(): void {
    if (!this.#inBody) this.#fail('the file ends in its header; expected $enddefinitions');
    if (this.#section !== null) this.#fail(`${this.#section[0]} has no $end`);
    if (this.#value !== null) this.#fail(`the value ${this.#value} has no identifier`);
  }

  #word(word: string): void {
    if (this.#section !== null) {
      if (word === '$end') this.#closeSection();
      else this.#section.push(word);
    } else if (this.#value !== null) {
      this.#change(word, this.#value);
      this.#value = null;
    } else if (word.startsWith('$')) {
      this.#keyword(word);
    } else if (!this.#inBody) {
      this.#fail(`"${shown(word)}" in the header; expected a word that begins with $`);
    } else if (word.startsWith('#')) {
      this.#time(word.slice(1));
    } else if (/^[01xz]/i.test(word) && word.length > 1) {
      this.#change(word.slice(1), word[0]!.toLowerCase());
    } else if (/^(?:b[01xz]+|r\S+|s\S*)$/i.test(word)) {
      this.#value = word.slice(1);
    } else {
      this.#fail(`"${shown(word)}"; expected a time such as #10 or a change such as 1!`);
    }
  }

  #keyword(word: string): void {
    // $dumpvars and its like only surround changes.
    if (this.#inBody && word !== '$comment') {
      if (/^\$(?:end|dump(?:vars|all|on|off))$/.test(word)) return;
      this.#fail(`${shown(word)} after the header`);
    }
    this.#section = [word];
  }

  #closeSection(): void {
    const [keyword, ...words] = this.#section!;
    this.#section = null;
    switch (keyword) {
      case '$comment':
        this.#told(() => this.#handler.comment(words.join(' ')));
        return;
      case '$timescale':
        this.#timescale(words.join(''));
        return;
      case '$scope':
        this.#scopes.push(words[1] ?? '');
        return;
      case '$upscope':
        if (this.#scopes.pop() === undefined) this.#fail('$upscope without a $scope');
        return;
      case '$var':
        this.#variable(words);
        return;
      case '$enddefinitions':
        this.#inBody = true;
        return;
      case '$date':
      case '$version':
        return;
      default:
        this.#fail(`unknown section ${shown(keyword!)}`);
    }
  }

  #timescale(text: string): void {
    const match = /^(1|10|100)(s|ms|us|ns|ps|fs)$/.exec(text);
    const unitNs = NS_PER_UNIT[match?.[2] ?? ''];
    if (unitNs === undefined) this.#fail(`$timescale ${shown(text)}; expected such as 100 ps`);
    this.#nsPerUnit = Number(match?.[1]) * unitNs!;
    this.#unitsPerNs = Math.round(1 / this.#nsPerUnit);
  }

  #variable(words: readonly string[]): void {
    const [, width, id, name] = words;
    if (name === undefined || !/^\d{1,4}$/.test(width!)) {
      this.#fail('a $var is written as: type width identifier name');
    }
    if (this.#nsPerUnit === 0) this.#fail('a $var before the $timescale');
    this.#ids.add(id!);
    const path = [...this.#scopes, name!.replace(/\[.*$/, '')];
    this.#told(() => this.#handler.variable(id!, path));
  }

  #time(text: string): void {
    if (!/^\d+$/.test(text) || text.length > DIGITS_MAX) {
      this.#fail(`the time "#${shown(text)}"; expected up to ${DIGITS_MAX} digits`);
    }
    const units = Number(text);
    if (units < this.#units) this.#fail(`time goes back from #${this.#units} to #${units}`);
    this.#units = units;
    // Division by a whole number rounds once; a product with 0.1 would not give the same.
    const ns = this.#unitsPerNs >= 1 ? units / this.#unitsPerNs : units * this.#nsPerUnit;
    this.#handler.time(ns);
  }

  #change(id: string, value: string): void {
    if (!this.#ids.has(id)) this.#fail(`a change of "${shown(id)}", which is no variable`);
    this.#handler.change(id, value);
  }

  /** What the handler finds wrong gets its place. */
  #told(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      if (error instanceof RunError) this.#fail(error.message);
      throw error;
    }
  }

  #fail(what: string): never {
    throw new RunError(`${this.#fileName}:${this.#line}: ${what}`);
  }
}

/** Foreign text that is fit for a message. */
function shown(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 40);
}
