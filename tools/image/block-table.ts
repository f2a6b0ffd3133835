/**
 * The block table of an image in memory: state and cells of every block, and what is not yet
 * written.
 */
import { wordsCrc } from './crc.ts';
import {
  BLOCK_CELLS,
  BLOCK_RECORD_BYTES,
  BLOCK_RECORD_WORDS,
  BlockRecord,
  BlockState,
  ERASE_COUNT,
  type ImageLayout,
  NEXT_PAGE,
} from './format.ts';
import type { BlockStates } from './page-records.ts';
import type { PositionalFile } from './positional-file.ts';

const CRC = BlockRecord.offsetOf('crc') / 4;
const STATE = BlockRecord.offsetOf('state') / 4;
const FIRST_CELL = BlockRecord.offsetOf('nextPage') / 4;

export class BlockTable implements BlockStates {
  readonly blockStates: Uint8Array;
  /** BLOCK_CELLS cells a block; 0 where the record is damaged. */
  readonly cells: Int32Array;
  /** 1: the record in the file is older than the cells. */
  readonly #isDirty: Uint8Array;
  readonly #layout: ImageLayout;
  readonly #file: PositionalFile;
  readonly #words = new Int32Array(BLOCK_RECORD_WORDS);
  readonly #bytes = new Uint8Array(this.#words.buffer);

  constructor(layout: ImageLayout, file: PositionalFile) {
    const { blocks } = layout.geometry;
    this.#layout = layout;
    this.#file = file;
    this.blockStates = new Uint8Array(blocks);
    this.cells = new Int32Array(blocks * BLOCK_CELLS);
    this.#isDirty = new Uint8Array(blocks);
  }

  eraseCountOf(blockIndex: number): number {
    return this.cells[blockIndex * BLOCK_CELLS + ERASE_COUNT]!;
  }

  /** Pages below this one are used, as far as programs and loads have told. */
  nextPageOf(blockIndex: number): number {
    return this.cells[blockIndex * BLOCK_CELLS + NEXT_PAGE]!;
  }

  /** Reads every record. */
  read(): void {
    const { blocks } = this.#layout.geometry;
    const words = new Int32Array(blocks * BLOCK_RECORD_WORDS);
    this.#file.read(this.#layout.blockTableAt, new Uint8Array(words.buffer));
    for (let block = 0; block < blocks; block++) this.#decode(block, words);
  }

  /** Notes that pages up to `nextPage` are used; true when the block was erased until now. */
  use(blockIndex: number, nextPage: number): boolean {
    const at = blockIndex * BLOCK_CELLS + NEXT_PAGE;
    if (nextPage > this.cells[at]!) {
      this.cells[at] = nextPage;
      this.#isDirty[blockIndex] = 1;
    }
    return this.blockStates[blockIndex] !== BlockState.Written;
  }

  /** Sets the cells of a block; written by `flush` or with the block's next record. */
  setCells(blockIndex: number, cells: Int32Array): void {
    this.cells.set(cells.subarray(0, BLOCK_CELLS), blockIndex * BLOCK_CELLS);
    this.#isDirty[blockIndex] = 1;
  }

  /** Changes the state of a block and writes its record. */
  enter(blockIndex: number, state: BlockState): void {
    this.blockStates[blockIndex] = state;
    this.#write(blockIndex);
  }

  /** Writes every record whose cells have changed. */
  flush(): void {
    for (let block = this.#isDirty.indexOf(1); block !== -1; ) {
      if (this.blockStates[block] !== BlockState.Damaged) this.#write(block);
      this.#isDirty[block] = 0;
      block = this.#isDirty.indexOf(1, block + 1);
    }
  }

  #write(blockIndex: number): void {
    const words = this.#words;
    words.fill(0);
    words[STATE] = this.blockStates[blockIndex]!;
    const first = blockIndex * BLOCK_CELLS;
    for (let i = 0; i < BLOCK_CELLS; i++) words[FIRST_CELL + i] = this.cells[first + i]!;
    words[CRC] = wordsCrc(words, CRC + 1, BLOCK_RECORD_WORDS, blockIndex);
    this.#file.write(this.#layout.blockRecordAt(blockIndex), this.#bytes, 0, BLOCK_RECORD_BYTES);
    this.#isDirty[blockIndex] = 0;
  }

  #decode(blockIndex: number, words: Int32Array): void {
    const first = blockIndex * BLOCK_RECORD_WORDS;
    const end = first + BLOCK_RECORD_WORDS;
    let isHole = true;
    for (let at = first; at < end && isHole; at++) isHole = words[at] === 0;
    if (isHole) return;
    const state = words[first + STATE]!;
    const crc = wordsCrc(words, first + CRC + 1, end, blockIndex);
    if (crc !== words[first + CRC] || state < 0 || state > BlockState.Erasing) {
      this.blockStates[blockIndex] = BlockState.Damaged;
      return;
    }
    this.blockStates[blockIndex] = state;
    this.cells.set(
      words.subarray(first + FIRST_CELL, first + FIRST_CELL + BLOCK_CELLS),
      blockIndex * BLOCK_CELLS,
    );
  }
}
