import { type NbdBackend, NbdError, NbdKind } from './backend.ts';
import type { BufferPool } from './buffers.ts';
import type { Framer } from './framer.ts';
import type { Replies } from './replies.ts';
import { NbdRequest, type RequestOwner, RequestState } from './request.ts';
import type { NbdStats } from './stats.ts';
import * as wire from './wire.ts';

/** Requests of one client that may be with the backend at once. */
export const MAX_OUTSTANDING = 256;
/** Payloads and replies held for one client beyond which its socket is not read. */
export const MAX_HELD_BYTES = 32 * 1024 * 1024;
/**
 * A refused payload up to this size is thrown away and answered; a larger one ends the connection.
 */
export const MAX_DRAIN_BYTES = 64 * 1024 * 1024;

const ALIGNMENT_MASK = wire.MIN_BLOCK_BYTES - 1;
/** Stands for a command that does not exist or was not negotiated. */
const UNKNOWN_COMMAND = -1;

/** What the connection does after a request's head. */
export enum Outcome {
  Continue,
  /** The client said DISC. */
  Disconnect,
  /** The stream makes no sense any more. */
  Violation,
}

/** What a transmission works with; one client's, except `backend`, `pool` and `stats`. */
export interface TransmissionParts {
  readonly backend: NbdBackend;
  readonly pool: BufferPool;
  readonly framer: Framer;
  readonly replies: Replies;
  readonly stats: NbdStats;
  /** Negotiated: structured replies. */
  readonly structured: boolean;
  /** Negotiated: base:allocation. */
  readonly allocation: boolean;
  /** Called after every completion, when its reply has been queued. */
  readonly onAnswered: () => void;
}

/**
 * The requests of one client: checks them, hands them to the backend, turns completions into
 * replies.
 */
export class Transmission implements RequestOwner {
  /** Requests with the backend or with a payload arriving. */
  outstanding = 0;
  /** The socket is gone: what completes now has nobody to tell. */
  private dropped = false;
  /** Payload bytes of outstanding requests. */
  private dataBytes = 0;
  private readonly free: NbdRequest[] = [];
  /** The request whose payload is arriving. */
  private receiving: NbdRequest | null = null;
  /** Error and cookie of the write whose payload is being thrown away. */
  private refusedError = NbdError.Ok;
  private refusedCookieHigh = 0;
  private refusedCookieLow = 0;
  private readonly parts: TransmissionParts;

  constructor(parts: TransmissionParts) {
    this.parts = parts;
    parts.framer.expectHead(wire.REQUEST_HEAD_BYTES);
  }

  /** Back-pressure: false while the client has too much under way. */
  mayStart(): boolean {
    return (
      this.outstanding < MAX_OUTSTANDING &&
      this.dataBytes + this.parts.replies.queuedBytes < MAX_HELD_BYTES
    );
  }

  /** The head of a request lies at `bytes[at]`. */
  onHead(bytes: Buffer, at: number): Outcome {
    if (bytes.readUInt32BE(at) !== wire.REQUEST_MAGIC) return Outcome.Violation;
    const flags = bytes.readUInt16BE(at + 4);
    const command = bytes.readUInt16BE(at + 6);
    const cookieHigh = bytes.readUInt32BE(at + 8);
    const cookieLow = bytes.readUInt32BE(at + 12);
    // Beyond 2^53 the offset is rounded, and refused all the same.
    const offsetBytes = bytes.readUInt32BE(at + 16) * 2 ** 32 + bytes.readUInt32BE(at + 20);
    const lengthBytes = bytes.readUInt32BE(at + 24);
    if (command === wire.Command.Disconnect) return Outcome.Disconnect;
    const error = this.check(command, flags, offsetBytes, lengthBytes);
    if (error !== NbdError.Ok) {
      return this.refuse(command, lengthBytes, cookieHigh, cookieLow, error);
    }
    const kind = kindOf(command);
    const request = this.take(kind, kind === NbdKind.Flush ? 0 : lengthBytes);
    request.cookieHigh = cookieHigh;
    request.cookieLow = cookieLow;
    request.offsetBytes = kind === NbdKind.Flush ? 0 : offsetBytes;
    request.fua = (flags & wire.CommandFlag.Fua) !== 0;
    request.noHole = (flags & wire.CommandFlag.NoHole) !== 0;
    if (kind === NbdKind.BlockStatus) {
      request.beginExtents((flags & wire.CommandFlag.RequestOne) !== 0);
    }
    if (kind === NbdKind.Write) {
      this.receiving = request;
      this.parts.framer.expectFill(request.data);
    } else {
      this.submit(request);
    }
    return Outcome.Continue;
  }

  /** The payload of a write is complete. */
  onFilled(): void {
    const request = this.receiving!;
    this.receiving = null;
    this.parts.framer.expectHead(wire.REQUEST_HEAD_BYTES);
    this.submit(request);
  }

  /** The payload of a refused write is gone; now the client may hear about it. */
  onSkipped(): void {
    this.parts.framer.expectHead(wire.REQUEST_HEAD_BYTES);
    this.parts.replies.simple(this.refusedCookieHigh, this.refusedCookieLow, this.refusedError);
  }

  /** No payload will arrive any more: gives up the request that waits for one. */
  endIntake(): void {
    const request = this.receiving;
    this.receiving = null;
    if (request !== null) this.recycle(request);
  }

  /** The socket is gone. Requests with the backend stay there until it completes them. */
  drop(): void {
    this.dropped = true;
    this.endIntake();
  }

  onComplete(request: NbdRequest, error: NbdError): void {
    const { replies, stats, structured } = this.parts;
    if (error !== NbdError.Ok) stats.failedRequests++;
    else countBytes(stats, request);
    if (!this.dropped) {
      if (error === NbdError.Ok && request.kind === NbdKind.Read) {
        replies.readData(request, structured);
      } else if (error === NbdError.Ok && request.kind === NbdKind.BlockStatus) {
        replies.blockStatus(request, request.extentList!);
      } else if (structured && mayCarryData(request.kind)) {
        replies.errorChunk(request.cookieHigh, request.cookieLow, error);
      } else {
        replies.simple(request.cookieHigh, request.cookieLow, error);
      }
    }
    this.recycle(request);
    if (!this.dropped) this.parts.onAnswered();
  }

  private submit(request: NbdRequest): void {
    request.state = RequestState.Submitted;
    this.parts.stats.requests[request.kind]!++;
    this.parts.backend.submit(request);
  }

  private take(kind: NbdKind, lengthBytes: number): NbdRequest {
    const request = this.free.pop() ?? new NbdRequest(this);
    request.kind = kind;
    request.lengthBytes = lengthBytes;
    request.state = RequestState.Receiving;
    this.outstanding++;
    if (kind === NbdKind.Read || kind === NbdKind.Write) {
      request.attach(this.parts.pool.take(lengthBytes));
      this.dataBytes += lengthBytes;
    }
    return request;
  }

  private recycle(request: NbdRequest): void {
    this.outstanding--;
    if (request.kind === NbdKind.Read || request.kind === NbdKind.Write) {
      this.dataBytes -= request.lengthBytes;
    }
    const buffer = request.detach();
    if (buffer !== null) this.parts.pool.release(buffer);
    request.state = RequestState.Free;
    this.free.push(request);
  }

  /** What is wrong with a request, or Ok. */
  private check(
    command: number,
    flags: number,
    offsetBytes: number,
    lengthBytes: number,
  ): NbdError {
    const { backend } = this.parts;
    const allowedFlags = this.allowedFlags(command);
    if (allowedFlags === UNKNOWN_COMMAND || (flags & ~allowedFlags) !== 0) return NbdError.Invalid;
    if (command === wire.Command.Flush) return NbdError.Ok;
    if (((offsetBytes | lengthBytes) & ALIGNMENT_MASK) !== 0) return NbdError.Invalid;
    if (lengthBytes === 0) return NbdError.Invalid;
    const carriesData = command === wire.Command.Read || command === wire.Command.Write;
    if (carriesData && lengthBytes > wire.MAX_PAYLOAD_BYTES) return NbdError.Invalid;
    const changes = command !== wire.Command.Read && command !== wire.Command.BlockStatus;
    if (changes && backend.readOnly === true) return NbdError.NotPermitted;
    if (offsetBytes > backend.sizeBytes - lengthBytes) {
      return changes ? NbdError.NoSpace : NbdError.Invalid;
    }
    // Zeroes that must stay allocated are written one by one, which is never faster than writing.
    const slow = backend.zeroesFast !== true || (flags & wire.CommandFlag.NoHole) !== 0;
    if ((flags & wire.CommandFlag.FastZero) !== 0 && slow) return NbdError.NotSupported;
    return NbdError.Ok;
  }

  /** Bits that a command may carry, or `UNKNOWN_COMMAND`. */
  private allowedFlags(command: number): number {
    const { structured, allocation } = this.parts;
    const { Fua, NoHole, DontFragment, RequestOne, FastZero } = wire.CommandFlag;
    switch (command) {
      case wire.Command.Read:
        // One chunk carries the whole answer, so DF changes nothing.
        return structured ? Fua | DontFragment : Fua;
      case wire.Command.Write:
      case wire.Command.Flush:
      case wire.Command.Trim:
        return Fua;
      case wire.Command.WriteZeroes:
        return Fua | NoHole | FastZero;
      default:
        return command === wire.Command.BlockStatus && allocation
          ? Fua | RequestOne
          : UNKNOWN_COMMAND;
    }
  }

  private refuse(
    command: number,
    lengthBytes: number,
    cookieHigh: number,
    cookieLow: number,
    error: NbdError,
  ): Outcome {
    const { framer, replies, stats, structured } = this.parts;
    stats.failedRequests++;
    if (command === wire.Command.Write && lengthBytes > 0) {
      if (lengthBytes > MAX_DRAIN_BYTES) return Outcome.Violation;
      this.refusedError = error;
      this.refusedCookieHigh = cookieHigh;
      this.refusedCookieLow = cookieLow;
      framer.expectSkip(lengthBytes);
      return Outcome.Continue;
    }
    const chunk = command === wire.Command.Read || command === wire.Command.BlockStatus;
    if (structured && chunk) replies.errorChunk(cookieHigh, cookieLow, error);
    else replies.simple(cookieHigh, cookieLow, error);
    return Outcome.Continue;
  }
}

/** Replies to these must be structured once that was negotiated. */
function mayCarryData(kind: NbdKind): boolean {
  return kind === NbdKind.Read || kind === NbdKind.BlockStatus;
}

function kindOf(command: number): NbdKind {
  switch (command) {
    case wire.Command.Read:
      return NbdKind.Read;
    case wire.Command.Write:
      return NbdKind.Write;
    case wire.Command.Flush:
      return NbdKind.Flush;
    case wire.Command.Trim:
      return NbdKind.Trim;
    case wire.Command.WriteZeroes:
      return NbdKind.WriteZeroes;
    default:
      return NbdKind.BlockStatus;
  }
}

function countBytes(stats: NbdStats, request: NbdRequest): void {
  switch (request.kind) {
    case NbdKind.Read:
      stats.readBytes += request.lengthBytes;
      break;
    case NbdKind.Write:
      stats.writtenBytes += request.lengthBytes;
      break;
    case NbdKind.Trim:
    case NbdKind.WriteZeroes:
      stats.trimmedBytes += request.lengthBytes;
      break;
  }
}
