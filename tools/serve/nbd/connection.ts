import type { Socket } from 'node:net';
import type { NbdBackend } from './backend.ts';
import type { BufferPool } from './buffers.ts';
import { type FrameHandler, Framer } from './framer.ts';
import { Handshake, type NbdExport, Verdict } from './handshake.ts';
import { Replies } from './replies.ts';
import type { NbdStats } from './stats.ts';
import { MAX_HELD_BYTES, Outcome, Transmission } from './transmission.ts';
import * as wire from './wire.ts';

/** Longest option body that is kept; longer ones are thrown away and answered ERR_TOO_BIG. */
const MAX_OPTION_BYTES = 64 * 1024;
/** Longest option body that is thrown away; with a longer one the connection ends. */
const MAX_OPTION_DRAIN_BYTES = 16 * 1024 * 1024;
/** How long a client may take to read the last replies. */
const LINGER_MS = 5_000;

/** What all connections of a server share. */
export interface ConnectionContext {
  readonly backend: NbdBackend;
  readonly nbdExport: NbdExport;
  readonly pool: BufferPool;
  readonly stats: NbdStats;
  readonly handshakeTimeoutMs: number;
  /** Told once, when the socket has closed. */
  onClosed(connection: Connection): void;
  /** Told why a client was cut off. */
  onViolation(reason: string): void;
}

enum Phase {
  ClientFlags,
  OptionHead,
  OptionBody,
  Transmission,
  /** Nothing more is read; what is under way is finished and answered. */
  Closing,
  Closed,
}

/** One client: its socket, the phase of its conversation and its back-pressure. */
export class Connection implements FrameHandler {
  private phase = Phase.ClientFlags;
  private readonly framer = new Framer(this, wire.CLIENT_FLAGS_BYTES);
  private readonly replies: Replies;
  private readonly handshake: Handshake;
  private transmission: Transmission | null = null;
  private optionCode = 0;
  /** Body of the option that is arriving; null while one that is too long is thrown away. */
  private optionBody: Buffer | null = null;
  /**
   * Part of a chunk that waits for room; not null exactly while the socket is paused for that
   * reason.
   */
  private held: Buffer | null = null;
  /** Inside `feed`: replies are flushed at its end. */
  private feeding = false;
  private tickScheduled = false;
  private timer: NodeJS.Timeout | null = null;
  private readonly socket: Socket;
  private readonly context: ConnectionContext;
  private readonly tick = (): void => this.runTick();
  private readonly answered = (): void => this.scheduleTick();

  constructor(socket: Socket, context: ConnectionContext) {
    this.socket = socket;
    this.context = context;
    this.replies = new Replies(socket, context.pool, this.answered);
    this.handshake = new Handshake(context.nbdExport, this.replies);
    // 'close' follows 'error', and is all that matters.
    socket.on('error', () => {});
    socket.on('close', () => this.onClose());
    socket.on('end', () => this.beginClosing());
    socket.on('data', (chunk: Buffer) => this.feed(chunk));
    this.timer = setTimeout(
      () => this.violate('the negotiation took too long'),
      context.handshakeTimeoutMs,
    ).unref();
    this.handshake.greet();
    this.replies.flush();
  }

  /** Reads nothing more, finishes what is under way, then closes. */
  beginClosing(): void {
    if (this.phase >= Phase.Closing) return;
    this.phase = Phase.Closing;
    this.stopTimer();
    this.framer.stop();
    this.transmission?.endIntake();
    this.held = null;
    this.socket.pause();
    this.scheduleTick();
  }

  /** Closes at once. */
  destroy(): void {
    this.socket.destroy();
  }

  mayStart(): boolean {
    const { transmission } = this;
    if (transmission !== null) return transmission.mayStart();
    return this.replies.queuedBytes < MAX_HELD_BYTES;
  }

  onHead(bytes: Buffer, at: number): void {
    switch (this.phase) {
      case Phase.Transmission: {
        const outcome = this.transmission!.onHead(bytes, at);
        if (outcome === Outcome.Disconnect) this.beginClosing();
        if (outcome === Outcome.Violation) {
          this.violate('a request has the wrong magic number or an impossible length');
        }
        break;
      }
      case Phase.ClientFlags:
        this.follow(this.handshake.clientFlags(bytes.readUInt32BE(at)));
        break;
      case Phase.OptionHead:
        this.beginOption(bytes, at);
        break;
    }
  }

  onFilled(): void {
    if (this.phase === Phase.Transmission) {
      this.transmission!.onFilled();
      return;
    }
    const body = this.optionBody!;
    this.optionBody = null;
    this.follow(this.handshake.option(this.optionCode, body));
  }

  onSkipped(): void {
    if (this.phase === Phase.Transmission) this.transmission!.onSkipped();
    else this.follow(this.handshake.optionTooBig(this.optionCode));
  }

  private beginOption(bytes: Buffer, at: number): void {
    const [magicHigh, magicLow] = wire.OPTION_MAGIC;
    if (bytes.readUInt32BE(at) !== magicHigh || bytes.readUInt32BE(at + 4) !== magicLow) {
      this.violate('an option has the wrong magic number');
      return;
    }
    this.optionCode = bytes.readUInt32BE(at + 8);
    const lengthBytes = bytes.readUInt32BE(at + 12);
    if (lengthBytes > MAX_OPTION_DRAIN_BYTES) {
      this.violate(`an option has ${lengthBytes} bytes of data`);
      return;
    }
    this.phase = Phase.OptionBody;
    if (lengthBytes > MAX_OPTION_BYTES) {
      this.framer.expectSkip(lengthBytes);
      return;
    }
    this.optionBody = Buffer.alloc(lengthBytes);
    if (lengthBytes === 0) this.onFilled();
    else this.framer.expectFill(this.optionBody);
  }

  private follow(verdict: Verdict): void {
    switch (verdict) {
      case Verdict.Negotiate:
        this.phase = Phase.OptionHead;
        this.framer.expectHead(wire.OPTION_HEAD_BYTES);
        break;
      case Verdict.Transmit:
        this.stopTimer();
        this.phase = Phase.Transmission;
        this.transmission = new Transmission({
          backend: this.context.backend,
          pool: this.context.pool,
          stats: this.context.stats,
          framer: this.framer,
          replies: this.replies,
          structured: this.handshake.structured,
          allocation: this.handshake.allocation,
          onAnswered: this.answered,
        });
        break;
      case Verdict.Close:
        this.beginClosing();
        break;
    }
  }

  private violate(reason: string): void {
    this.context.stats.violations++;
    this.context.onViolation(reason);
    this.beginClosing();
  }

  private feed(chunk: Buffer): void {
    this.feeding = true;
    const rest = this.framer.feed(chunk);
    this.feeding = false;
    if (this.phase < Phase.Closing) {
      if (rest !== null && this.held === null) this.socket.pause();
      if (rest === null && this.held !== null) this.socket.resume();
      this.held = rest;
    } else {
      this.scheduleTick();
    }
    this.replies.flush();
  }

  /** All that completes in one turn of the event loop leaves in one write. */
  private scheduleTick(): void {
    if (this.feeding || this.tickScheduled || this.phase === Phase.Closed) return;
    this.tickScheduled = true;
    process.nextTick(this.tick);
  }

  private runTick(): void {
    this.tickScheduled = false;
    this.replies.flush();
    if (this.phase === Phase.Closing) this.finishClosing();
    else if (this.held !== null && this.mayStart()) this.feed(this.held);
  }

  private finishClosing(): void {
    if (this.transmission !== null && this.transmission.outstanding > 0) return;
    if (this.replies.idle) {
      this.socket.destroySoon();
      return;
    }
    // A client that reads no replies must not keep its place for ever.
    this.timer ??= setTimeout(() => this.destroy(), LINGER_MS).unref();
  }

  private onClose(): void {
    this.phase = Phase.Closed;
    this.stopTimer();
    this.framer.stop();
    this.held = null;
    this.transmission?.drop();
    this.context.onClosed(this);
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
