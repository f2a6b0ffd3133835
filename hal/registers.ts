/**
 * Register views: named, addressed registers that debugger and dump read.
 *
 * The block addresses follow the map of the Barefoot family's public firmware tree (OpenSSD
 * Jasmine); the Barefoot 3's own map was never published, so they are assumed.
 */

export interface Register {
  readonly name: string;
  /** Byte offset from the block's base address. */
  readonly offset: number;
  readonly says: string;
  /** Present value; reading has no side effect. */
  read(): number;
}

export interface RegisterView {
  readonly name: string;
  readonly baseAddress: number;
  readonly registers: readonly Register[];
}
