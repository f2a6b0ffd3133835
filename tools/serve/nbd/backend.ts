/**
 * What a block device has to offer to be served over NBD. The server calls `submit`; the device
 * answers by `complete`, at once or in a later tick, in any order.
 */

/** What a request asks for. */
export enum NbdKind {
  Read,
  Write,
  Flush,
  Trim,
  WriteZeroes,
  BlockStatus,
}

/** Error numbers of the protocol (doc/proto.md, "Error values"); 0 is success. */
export enum NbdError {
  Ok = 0,
  /** EPERM: the export is read-only. */
  NotPermitted = 1,
  /** EIO: the medium failed. */
  Io = 5,
  /** ENOMEM. */
  NoMemory = 12,
  /** EINVAL: malformed, misaligned or read past the end. */
  Invalid = 22,
  /** ENOSPC: write, trim or zeroes past the end, or no space left. */
  NoSpace = 28,
  /** EOVERFLOW. */
  Overflow = 75,
  /** ENOTSUP: for example zeroes that were asked to be fast and are not. */
  NotSupported = 95,
  /** ESHUTDOWN: the server is about to end. */
  Shutdown = 108,
}

/** State of an extent in the context base:allocation, bit values. */
export enum ExtentState {
  Data = 0,
  /** Not allocated. */
  Hole = 1,
  /** Reads as zeroes. */
  Zero = 2,
  /** A trimmed range of a drive that returns zeroes after trim. */
  HoleZero = 3,
}

/**
 * Where a backend reports the extents of a BlockStatus request, in ascending order from its offset.
 */
export interface ExtentSink {
  /**
   * Adds `lengthBytes` (> 0, a multiple of 512) in `state`. Equal neighbours are merged and what
   * passes the end of the request is cut off. Returns false when the answer is complete: the
   * backend may stop there.
   */
  push(lengthBytes: number, state: ExtentState): boolean;
}

/**
 * One request. The server owns it and uses it again: after `complete` the backend may touch neither
 * the request nor its `data`. Offset and length are multiples of 512 and lie inside the device;
 * both are 0 for Flush.
 */
export interface BackendRequest {
  readonly kind: NbdKind;
  readonly offsetBytes: number;
  /** Up to 32 MiB for Read and Write, else up to 4 GiB - 512. */
  readonly lengthBytes: number;
  /** Write, Trim, WriteZeroes: complete only when this request is durable. */
  readonly fua: boolean;
  /** WriteZeroes: the range must stay allocated; do not turn it into a trim. */
  readonly noHole: boolean;
  /** Write: the payload. Read: to be filled, all of it, before success. Else empty. */
  readonly data: Uint8Array;
  /** BlockStatus: the answer; no extent at all means "all data". Ignored for the other kinds. */
  readonly extents: ExtentSink;
  /** Ends the request; exactly once. Must not be called before `submit` was entered. */
  complete(error: NbdError): void;
}

/** A block device. */
export interface NbdBackend {
  /** A multiple of 512, more than 0; constant while it is served. */
  readonly sizeBytes: number;
  /**
   * Writes are refused by the server (EPERM) and the flag READ_ONLY is advertised. Default false.
   */
  readonly readOnly?: boolean;
  /**
   * Zeroing without NO_HOLE costs less than writing zeroes. Without it the server answers FAST_ZERO
   * requests with ENOTSUP by itself. Default false.
   */
  readonly zeroesFast?: boolean;
  /**
   * Takes one request. A flush covers all that completed before it, whichever connection it came
   * from (CAN_MULTI_CONN is advertised). An exception is taken for a broken rule and is not caught.
   */
  submit(request: BackendRequest): void;
}
