import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOY } from '../../../firmware/profiles/toy.ts';
import type { WallClock } from '../../../tools/serve/emulator-loop.ts';
import {
  type BackendRequest,
  type ExtentSink,
  type ExtentState,
  type NbdError,
  NbdKind,
} from '../../../tools/serve/nbd/backend.ts';
import { DriveService, type ServeOptions } from '../../../tools/serve/service.ts';
import type { ServeSummary } from '../../../tools/serve/summary.ts';

/** A wall clock that stands still until the test moves it; turns happen when the test says so. */
export class HandClock implements WallClock {
  private ms = 0;
  private readonly turns: (() => void)[] = [];
  /** The timer that is set: what and in how many milliseconds. */
  timer: { run: () => void; ms: number } | null = null;

  nowMs(): number {
    return this.ms;
  }

  soon(run: () => void): void {
    this.turns.push(run);
  }

  later(run: () => void, ms: number): void {
    this.timer = { run, ms };
  }

  cancelLater(): void {
    this.timer = null;
  }

  /** Lets `ms` pass without a turn. */
  pass(ms: number): void {
    this.ms += ms;
  }

  /** Takes one turn if one is due. */
  turn(): boolean {
    const run = this.turns.shift();
    run?.();
    return run !== undefined;
  }

  /** Takes turns while any are due. */
  settle(): void {
    for (let left = 1_000_000; this.turn(); left--) {
      if (left === 0) throw new Error('the loop never rests');
    }
  }

  /** Lets the timer run out that is set. */
  ring(): void {
    const { timer } = this;
    if (timer === null) throw new Error('no timer is set');
    this.timer = null;
    this.ms += timer.ms;
    timer.run();
  }
}

/** A request without a server around it. */
export class HandRequest implements BackendRequest {
  readonly kind: NbdKind;
  readonly offsetBytes: number;
  readonly lengthBytes: number;
  readonly fua: boolean;
  readonly noHole: boolean;
  readonly data: Uint8Array;
  /** What the request ended with, null before. */
  error: NbdError | null = null;
  /** Extents of a BlockStatus request. */
  readonly found: { lengthBytes: number; state: ExtentState }[] = [];
  readonly extents: ExtentSink = {
    push: (lengthBytes, state) => {
      this.found.push({ lengthBytes, state });
      return true;
    },
  };

  constructor(
    kind: NbdKind,
    offsetBytes: number,
    lengthBytes: number,
    options: { fua?: boolean; noHole?: boolean; data?: Uint8Array } = {},
  ) {
    this.kind = kind;
    this.offsetBytes = offsetBytes;
    this.lengthBytes = lengthBytes;
    this.fua = options.fua ?? false;
    this.noHole = options.noHole ?? false;
    const hasData = kind === NbdKind.Read || kind === NbdKind.Write;
    // What a read does not fill must not look like zeroes.
    this.data = options.data ?? Buffer.alloc(hasData ? lengthBytes : 0, 0xee);
  }

  complete(error: NbdError): void {
    if (this.error !== null) throw new Error('a request completes once');
    this.error = error;
  }
}

/** A served toy drive on a clock in the test's hand. */
export class ServedToy {
  readonly service: DriveService;
  readonly clock = new HandClock();
  readonly notices: string[] = [];
  readonly folder: string;

  private constructor(folder: string, options: Partial<ServeOptions>) {
    this.folder = folder;
    this.service = new DriveService({
      profile: TOY,
      clock: this.clock,
      onNotice: (text) => this.notices.push(text),
      ...options,
    });
  }

  static async start(
    options: (folder: string) => Partial<ServeOptions> = () => ({}),
  ): Promise<ServedToy> {
    const folder = mkdtempSync(join(tmpdir(), 'bf3-serve-'));
    const toy = new ServedToy(folder, options(folder));
    await toy.service.start({ path: join(folder, 'nbd') });
    return toy;
  }

  submit(request: HandRequest): HandRequest {
    this.service.backend.submit(request);
    return request;
  }

  /** Submits a request and runs until the loop rests. */
  run(request: HandRequest): HandRequest {
    this.submit(request);
    this.clock.settle();
    return request;
  }

  async stop(): Promise<ServeSummary> {
    let summary: ServeSummary | null = null;
    const stopping = this.service.stop().then((value) => {
      summary = value;
    });
    while (summary === null) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.service.loop.realtime) {
        this.clock.pass(0.1);
        if (!this.clock.turn() && this.clock.timer !== null) this.clock.ring();
      } else this.clock.settle();
    }
    await stopping;
    rmSync(this.folder, { recursive: true, force: true });
    return summary;
  }
}
