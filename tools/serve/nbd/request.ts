import type { BackendRequest, ExtentSink, ExtentState } from './backend.ts';
import { type NbdError, NbdKind } from './backend.ts';
import type { PooledBuffer } from './buffers.ts';

/** Most extents in one answer; a client asks again from where the answer ends. */
const MAX_EXTENTS = 4096;
const NO_DATA = Buffer.alloc(0);

/** Extents of one BLOCK_STATUS answer: (length, state) pairs. */
export class ExtentList implements ExtentSink {
  /** Pairs; `2 * count` of the words are in use. */
  readonly words = new Uint32Array(2 * MAX_EXTENTS);
  count = 0;
  private remainingBytes = 0;
  /** The client asked for the first extent only. */
  private single = false;

  /** Starts an empty answer for a request of `lengthBytes`. */
  begin(lengthBytes: number, single: boolean): void {
    this.count = 0;
    this.remainingBytes = lengthBytes;
    this.single = single;
  }

  push(lengthBytes: number, state: ExtentState): boolean {
    if (!(lengthBytes > 0)) throw new RangeError('an extent has a positive length');
    const takenBytes = Math.min(lengthBytes, this.remainingBytes);
    if (takenBytes === 0) return false;
    const last = 2 * (this.count - 1);
    if (this.count > 0 && this.words[last + 1] === state) {
      this.words[last] = this.words[last]! + takenBytes;
    } else {
      if (this.count === (this.single ? 1 : MAX_EXTENTS)) {
        this.remainingBytes = 0;
        return false;
      }
      this.words[2 * this.count] = takenBytes;
      this.words[2 * this.count + 1] = state;
      this.count++;
    }
    this.remainingBytes -= takenBytes;
    return this.remainingBytes > 0;
  }
}

/** Made on first use: most requests never need one. */
const REFUSES_EXTENTS: ExtentSink = {
  push() {
    throw new TypeError('extents belong to a BlockStatus request');
  },
};

/** Who is told when the backend is done. */
export interface RequestOwner {
  onComplete(request: NbdRequest, error: NbdError): void;
}

/** Whose turn it is. */
export enum RequestState {
  /** In the free list. */
  Free,
  /** Its payload is arriving. */
  Receiving,
  /** With the backend. */
  Submitted,
}

/** A request object of a connection's pool. */
export class NbdRequest implements BackendRequest {
  kind = NbdKind.Flush;
  offsetBytes = 0;
  lengthBytes = 0;
  fua = false;
  noHole = false;
  data: Buffer = NO_DATA;
  extents: ExtentSink = REFUSES_EXTENTS;
  /** The client's name for the request, echoed in the reply. */
  cookieHigh = 0;
  cookieLow = 0;
  /** Where `data` lies; null when the request carries none. */
  buffer: PooledBuffer | null = null;
  /** Kept between uses. */
  extentList: ExtentList | null = null;
  state = RequestState.Free;
  private readonly owner: RequestOwner;

  constructor(owner: RequestOwner) {
    this.owner = owner;
  }

  /** Gives the request its payload area. */
  attach(buffer: PooledBuffer): void {
    this.buffer = buffer;
    this.data = buffer.data;
  }

  /** Takes the payload area away; the caller now answers for it. */
  detach(): PooledBuffer | null {
    const buffer = this.buffer;
    this.buffer = null;
    this.data = NO_DATA;
    return buffer;
  }

  /** Prepares for a BLOCK_STATUS answer. */
  beginExtents(single: boolean): void {
    this.extentList ??= new ExtentList();
    this.extentList.begin(this.lengthBytes, single);
    this.extents = this.extentList;
  }

  complete(error: NbdError): void {
    if (this.state !== RequestState.Submitted) {
      throw new Error('an NBD request is completed once, after it was submitted');
    }
    this.state = RequestState.Free;
    this.extents = REFUSES_EXTENTS;
    this.owner.onComplete(this, error);
  }
}
