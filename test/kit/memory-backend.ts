import {
  type BackendRequest,
  ExtentState,
  type NbdBackend,
  NbdError,
  NbdKind,
} from '../../tools/serve/nbd/backend.ts';

/** When requests complete. */
export enum CompletionMode {
  /** Inside `submit`. */
  AtOnce,
  /** All of one turn of the event loop together, in a later turn. */
  NextTurn,
  /** As NextTurn, in an order picked by `pick`. */
  Shuffled,
  /** Only when the test calls `release`. */
  Held,
}

const GRAIN_BYTES = 4096;

/** A block device in memory: the reference behind the NBD server in tests. */
export class MemoryBackend implements NbdBackend {
  readonly disk: Buffer;
  readonly sizeBytes: number;
  mode = CompletionMode.AtOnce;
  readOnly = false;
  zeroesFast = true;
  /** Requests that touch this byte fail with `faultError`; -1 is none. */
  faultAtBytes = -1;
  faultError = NbdError.Io;
  /** Index below `count` of the request that completes next (mode Shuffled). */
  pick: (count: number) => number = () => 0;
  /** Requests that wait for their completion. */
  readonly waiting: BackendRequest[] = [];
  /** Most requests that ever waited together. */
  waitingMax = 0;
  flushes = 0;
  fuaWrites = 0;
  noHoleZeroes = 0;
  /** 1 for each 4 KiB that was written and not trimmed since. */
  private readonly allocated: Uint8Array;
  private scheduled = false;

  constructor(sizeBytes: number) {
    this.sizeBytes = sizeBytes;
    this.disk = Buffer.alloc(sizeBytes);
    this.allocated = new Uint8Array(Math.ceil(sizeBytes / GRAIN_BYTES));
  }

  submit(request: BackendRequest): void {
    if (this.mode === CompletionMode.AtOnce) {
      this.execute(request);
      return;
    }
    this.waiting.push(request);
    this.waitingMax = Math.max(this.waitingMax, this.waiting.length);
    if (this.mode === CompletionMode.Held || this.scheduled) return;
    this.scheduled = true;
    setImmediate(this.turn);
  }

  /** Completes up to `count` of the requests that wait. */
  release(count = this.waiting.length): void {
    for (let i = 0; i < count && this.waiting.length > 0; i++) {
      const index = this.mode === CompletionMode.Shuffled ? this.pick(this.waiting.length) : 0;
      const [request] = this.waiting.splice(index, 1);
      if (request !== undefined) this.execute(request);
    }
  }

  private readonly turn = (): void => {
    this.scheduled = false;
    if (this.mode === CompletionMode.Shuffled) {
      this.release();
      return;
    }
    for (const request of this.waiting.splice(0)) this.execute(request);
  };

  private execute(request: BackendRequest): void {
    const { kind, offsetBytes: from, lengthBytes } = request;
    const to = from + lengthBytes;
    if (from <= this.faultAtBytes && this.faultAtBytes < to) {
      request.complete(this.faultError);
      return;
    }
    switch (kind) {
      case NbdKind.Read:
        this.disk.copy(request.data, 0, from, to);
        break;
      case NbdKind.Write:
        this.disk.set(request.data, from);
        this.allocated.fill(1, Math.floor(from / GRAIN_BYTES), Math.ceil(to / GRAIN_BYTES));
        if (request.fua) this.fuaWrites++;
        break;
      case NbdKind.Flush:
        this.flushes++;
        break;
      case NbdKind.Trim:
      case NbdKind.WriteZeroes:
        this.disk.fill(0, from, to);
        if (request.noHole) this.noHoleZeroes++;
        else this.allocated.fill(0, Math.ceil(from / GRAIN_BYTES), Math.floor(to / GRAIN_BYTES));
        break;
      case NbdKind.BlockStatus:
        this.pushExtents(request);
        break;
    }
    request.complete(NbdError.Ok);
  }

  private pushExtents(request: BackendRequest): void {
    const end = request.offsetBytes + request.lengthBytes;
    let at = request.offsetBytes;
    while (at < end) {
      const grain = Math.floor(at / GRAIN_BYTES);
      const next = Math.min(end, (grain + 1) * GRAIN_BYTES);
      const state = this.allocated[grain] === 1 ? ExtentState.Data : ExtentState.HoleZero;
      if (!request.extents.push(next - at, state)) return;
      at = next;
    }
  }
}
