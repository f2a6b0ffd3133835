/**
 * Buffers that are used again: payloads and batches of replies. A fresh 128 KiB buffer per request
 * would cost more than moving the data.
 */

/**
 * Room before the data in which a reply's head is written, so that head and data leave as one
 * piece.
 */
export const HEADROOM_BYTES = 32;

const MIN_CLASS_BITS = 12;
const MAX_CLASS_BITS = 25;

/** A buffer on loan from a `BufferPool`. */
export interface PooledBuffer {
  /** Headroom and data area; the data starts at `HEADROOM_BYTES`. */
  readonly bytes: Buffer;
  /** The data area, exactly as long as was asked for. */
  data: Buffer;
  readonly sizeClass: number;
}

/** Free lists by powers of two, 4 KiB to 32 MiB. */
export class BufferPool {
  private readonly free: PooledBuffer[][] = [];
  private freeBytes = 0;
  private readonly maxFreeBytes: number;

  /**
   * `maxFreeBytes`: what idle buffers may occupy; beyond it they are left to the garbage collector.
   */
  constructor(maxFreeBytes: number) {
    this.maxFreeBytes = maxFreeBytes;
    for (let bits = MIN_CLASS_BITS; bits <= MAX_CLASS_BITS; bits++) this.free.push([]);
  }

  /**
   * A buffer whose `data` has `lengthBytes` (0 to 32 MiB); its content is whatever was there
   * before.
   */
  take(lengthBytes: number): PooledBuffer {
    const sizeClass = classOf(lengthBytes);
    const list = this.free[sizeClass];
    if (list === undefined) throw new RangeError('a pooled buffer holds at most 32 MiB');
    const found = list.pop();
    if (found !== undefined) {
      this.freeBytes -= found.bytes.length;
      if (found.data.length !== lengthBytes) {
        found.data = found.bytes.subarray(HEADROOM_BYTES, HEADROOM_BYTES + lengthBytes);
      }
      return found;
    }
    // The slow kind has an ArrayBuffer of its own, so that the data area is aligned for every typed
    // array.
    const bytes = Buffer.allocUnsafeSlow(HEADROOM_BYTES + 2 ** (sizeClass + MIN_CLASS_BITS));
    return {
      bytes,
      data: bytes.subarray(HEADROOM_BYTES, HEADROOM_BYTES + lengthBytes),
      sizeClass,
    };
  }

  /** Gives a buffer back; nobody may hold on to its views. */
  release(buffer: PooledBuffer): void {
    if (this.freeBytes + buffer.bytes.length > this.maxFreeBytes) return;
    this.freeBytes += buffer.bytes.length;
    this.free[buffer.sizeClass]?.push(buffer);
  }
}

function classOf(lengthBytes: number): number {
  if (lengthBytes <= 2 ** MIN_CLASS_BITS) return 0;
  return 32 - Math.clz32(lengthBytes - 1) - MIN_CLASS_BITS;
}
