/**
 * Types of the part of `buffer-layout` 1.2 that the records use; the package ships none.
 * Blob, CString and UTF8 are left out on purpose: they reach for Node's global `Buffer`.
 */
declare module 'buffer-layout' {
  /** Base of every layout: `span` bytes, decoded into the property of that name if it has one. */
  export class Layout<T = unknown> {
    constructor(span: number, property?: string);
    readonly span: number;
    readonly property: string | undefined;
    decode(bytes: Uint8Array, offset?: number): T;
    encode(value: T, bytes: Uint8Array, offset?: number): number;
    getSpan(bytes?: Uint8Array, offset?: number): number;
  }
  export class UInt extends Layout<number> {}
  export class UIntBE extends Layout<number> {}
  export class Int extends Layout<number> {}
  export class IntBE extends Layout<number> {}
  export class BitStructure extends Layout<Record<string, number>> {
    constructor(word: UInt | UIntBE, mostSignificantFirst: boolean, property: string);
    addField(bits: number, property?: string): unknown;
  }
  export class Structure extends Layout<Record<string, unknown>> {
    constructor(fields: readonly Layout<unknown>[]);
    offsetOf(property: string): number | undefined;
  }
  export function nu64(property: string): Layout<number>;
  export function nu64be(property: string): Layout<number>;
  export function ns64(property: string): Layout<number>;
  export function ns64be(property: string): Layout<number>;
}
