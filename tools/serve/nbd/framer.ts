/**
 * Cuts the incoming byte stream into heads of fixed size, payloads and rubbish, whatever the pieces
 * it arrives in. Payload bytes are copied once, from the socket's chunk to where they belong.
 */

/** What the framer does with the next byte. */
enum Intake {
  /** Gathers a head of fixed size. */
  Head,
  /** Copies into a destination. */
  Fill,
  /** Throws away. */
  Skip,
  /** Throws away for ever. */
  Stopped,
}

/** Who understands what arrives; each call must leave the framer told what to expect next. */
export interface FrameHandler {
  /** Asked before each head; false leaves the rest of the chunk unread (back-pressure). */
  mayStart(): boolean;
  /** A whole head lies at `bytes[at]`; the bytes are valid during the call only. */
  onHead(bytes: Buffer, at: number): void;
  onFilled(): void;
  onSkipped(): void;
}

const MAX_HEAD_BYTES = 32;
const NOTHING = Buffer.alloc(0);

export class Framer {
  private intake = Intake.Head;
  /** Size of the next head. */
  private headBytes: number;
  /** Bytes of the next head that already lie in `partial`. */
  private partialBytes = 0;
  private readonly partial = Buffer.alloc(MAX_HEAD_BYTES);
  private destination: Buffer = NOTHING;
  private destinationAt = 0;
  /** Bytes still to be copied or thrown away. */
  private remainingBytes = 0;
  private readonly handler: FrameHandler;

  constructor(handler: FrameHandler, headBytes: number) {
    this.handler = handler;
    this.headBytes = headBytes;
  }

  /** A head of `headBytes` (1 to 32) comes next. */
  expectHead(headBytes: number): void {
    this.intake = Intake.Head;
    this.headBytes = headBytes;
  }

  /** The next `destination.length` bytes (more than 0) go to `destination`. */
  expectFill(destination: Buffer): void {
    this.intake = Intake.Fill;
    this.destination = destination;
    this.destinationAt = 0;
    this.remainingBytes = destination.length;
  }

  /** The next `lengthBytes` (more than 0) are thrown away. */
  expectSkip(lengthBytes: number): void {
    this.intake = Intake.Skip;
    this.remainingBytes = lengthBytes;
  }

  /** Everything from here on is thrown away. */
  stop(): void {
    this.intake = Intake.Stopped;
    this.destination = NOTHING;
  }

  /** Takes a chunk. Returns what the handler was not ready for, to be fed again later, or null. */
  feed(chunk: Buffer): Buffer | null {
    const end = chunk.length;
    let at = 0;
    while (at < end) {
      switch (this.intake) {
        case Intake.Head:
          if (this.partialBytes === 0 && !this.handler.mayStart()) {
            return at === 0 ? chunk : chunk.subarray(at);
          }
          at += this.takeHead(chunk, at);
          break;
        case Intake.Fill:
          at += this.takeFill(chunk, at);
          break;
        case Intake.Skip: {
          const takenBytes = Math.min(end - at, this.remainingBytes);
          this.remainingBytes -= takenBytes;
          at += takenBytes;
          if (this.remainingBytes === 0) this.handler.onSkipped();
          break;
        }
        case Intake.Stopped:
          return null;
      }
    }
    return null;
  }

  private takeHead(chunk: Buffer, at: number): number {
    const missingBytes = this.headBytes - this.partialBytes;
    if (this.partialBytes === 0 && chunk.length - at >= missingBytes) {
      this.handler.onHead(chunk, at);
      return missingBytes;
    }
    const takenBytes = Math.min(chunk.length - at, missingBytes);
    chunk.copy(this.partial, this.partialBytes, at, at + takenBytes);
    this.partialBytes += takenBytes;
    if (takenBytes === missingBytes) {
      this.partialBytes = 0;
      this.handler.onHead(this.partial, 0);
    }
    return takenBytes;
  }

  private takeFill(chunk: Buffer, at: number): number {
    const takenBytes = Math.min(chunk.length - at, this.remainingBytes);
    chunk.copy(this.destination, this.destinationAt, at, at + takenBytes);
    this.destinationAt += takenBytes;
    this.remainingBytes -= takenBytes;
    if (this.remainingBytes === 0) {
      this.destination = NOTHING;
      this.handler.onFilled();
    }
    return takenBytes;
  }
}
