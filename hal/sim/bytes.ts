/**
 * A `Uint8Array` that reads and writes integers of one to six bytes at any offset.
 *
 * The method names are the ones that `buffer-layout` calls on its argument, so that a record can be
 * encoded where no Node `Buffer` exists (a browser, a worker). All offsets and widths are in bytes.
 * Every method throws a RangeError when the bytes lie outside the array or a value does not fit.
 */
export class Bytes extends Uint8Array {
  /** The same memory seen as Bytes: writes go through to `source`. */
  static over(source: Uint8Array): Bytes {
    if (source instanceof Bytes) return source;
    return new Bytes(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
  }

  /** Unsigned little-endian integer of `width` (1 to 6) bytes. */
  readUIntLE(offset: number, width: number): number {
    checkPlace(this, offset, width);
    let value = 0;
    for (let i = width - 1; i >= 0; i--) value = value * 256 + (this[offset + i] as number);
    return value;
  }

  /** Unsigned big-endian integer of `width` (1 to 6) bytes. */
  readUIntBE(offset: number, width: number): number {
    checkPlace(this, offset, width);
    let value = 0;
    for (let i = 0; i < width; i++) value = value * 256 + (this[offset + i] as number);
    return value;
  }

  /** Two's complement little-endian integer of `width` (1 to 6) bytes. */
  readIntLE(offset: number, width: number): number {
    return toSigned(this.readUIntLE(offset, width), width);
  }

  /** Two's complement big-endian integer of `width` (1 to 6) bytes. */
  readIntBE(offset: number, width: number): number {
    return toSigned(this.readUIntBE(offset, width), width);
  }

  /** Returns the offset behind the value, as Node's Buffer does. */
  writeUIntLE(value: number, offset: number, width: number): number {
    checkPlace(this, offset, width);
    checkValue(value, 0, valuesOf(width) - 1);
    let low = value >>> 0;
    const high = (value - low) / 2 ** 32;
    for (let i = 0; i < width; i++) {
      if (i === 4) low = high;
      this[offset + i] = low;
      low >>>= 8;
    }
    return offset + width;
  }

  /** Returns the offset behind the value, as Node's Buffer does. */
  writeUIntBE(value: number, offset: number, width: number): number {
    checkPlace(this, offset, width);
    checkValue(value, 0, valuesOf(width) - 1);
    let low = value >>> 0;
    const high = (value - low) / 2 ** 32;
    for (let i = 0; i < width; i++) {
      if (i === 4) low = high;
      this[offset + width - 1 - i] = low;
      low >>>= 8;
    }
    return offset + width;
  }

  /** Returns the offset behind the value, as Node's Buffer does. */
  writeIntLE(value: number, offset: number, width: number): number {
    checkPlace(this, offset, width);
    checkValue(value, -valuesOf(width) / 2, valuesOf(width) / 2 - 1);
    return this.writeUIntLE(toUnsigned(value, width), offset, width);
  }

  /** Returns the offset behind the value, as Node's Buffer does. */
  writeIntBE(value: number, offset: number, width: number): number {
    checkPlace(this, offset, width);
    checkValue(value, -valuesOf(width) / 2, valuesOf(width) / 2 - 1);
    return this.writeUIntBE(toUnsigned(value, width), offset, width);
  }

  readUInt32LE(offset: number): number {
    return this.readUIntLE(offset, 4);
  }

  readUInt32BE(offset: number): number {
    return this.readUIntBE(offset, 4);
  }

  readInt32LE(offset: number): number {
    return this.readIntLE(offset, 4);
  }

  readInt32BE(offset: number): number {
    return this.readIntBE(offset, 4);
  }

  writeUInt32LE(value: number, offset: number): number {
    return this.writeUIntLE(value, offset, 4);
  }

  writeUInt32BE(value: number, offset: number): number {
    return this.writeUIntBE(value, offset, 4);
  }

  writeInt32LE(value: number, offset: number): number {
    return this.writeIntLE(value, offset, 4);
  }

  writeInt32BE(value: number, offset: number): number {
    return this.writeIntBE(value, offset, 4);
  }
}

/** 256 to the power of the index: how many values that many bytes hold. */
const VALUES_OF_WIDTH: readonly number[] = [1, 2 ** 8, 2 ** 16, 2 ** 24, 2 ** 32, 2 ** 40, 2 ** 48];

function valuesOf(width: number): number {
  return VALUES_OF_WIDTH[width] as number;
}

function checkPlace(bytes: Bytes, offset: number, width: number): void {
  if (!Number.isInteger(width) || width < 1 || width > 6) {
    throw new RangeError(`an integer is 1 to 6 bytes wide, not ${width}`);
  }
  if (!Number.isInteger(offset) || offset < 0 || offset + width > bytes.length) {
    throw new RangeError(`${width} bytes at offset ${offset} lie outside ${bytes.length} bytes`);
  }
}

function toSigned(value: number, width: number): number {
  return value >= valuesOf(width) / 2 ? value - valuesOf(width) : value;
}

function toUnsigned(value: number, width: number): number {
  return value < 0 ? value + valuesOf(width) : value;
}

function checkValue(value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${value} is not an integer from ${least} to ${most}`);
  }
}
