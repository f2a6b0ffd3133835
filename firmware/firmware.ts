/**
 * The firmware: its parts, wired to each other.
 *
 * Built once on a board; `powerGood` boots it, `reset` puts everything into the state after a loss
 * of power. Definitions of tasks and interrupt routes are made at construction and survive both.
 */

import type { Machine } from '../hal/sim/snapshot.ts';
import type { Board } from './board.ts';
import { Boot } from './boot.ts';
import { Flusher } from './flusher.ts';
import { Checkpoint } from './ftl/checkpoint.ts';
import { Collector } from './ftl/collector.ts';
import { type EraseListener, Eraser } from './ftl/eraser.ts';
import { Frontier } from './ftl/frontier.ts';
import { RootState } from './ftl/layouts.ts';
import { Mapping } from './ftl/mapping.ts';
import { MarkScan } from './ftl/mark-scan.ts';
import { MetadataIo } from './ftl/metadata-io.ts';
import { Mount, type MountListener } from './ftl/mount.ts';
import { PerformanceMode } from './ftl/performance-mode.ts';
import { RootBlocks, type RootListener } from './ftl/root.ts';
import { Superblocks } from './ftl/superblocks.ts';
import { HostStream, type StreamListener } from './host-stream.ts';
import { HostTasks } from './host-tasks.ts';
import { Reader } from './reader.ts';
import { Retirer } from './retirer.ts';
import { Shutdown } from './shutdown.ts';
import { SmartRecord } from './smart-record.ts';
import { Trimmer } from './trimmer.ts';
import { WriteBuffer } from './write-buffer.ts';
import { Writer } from './writer.ts';

/** Numbers of the cold machines in probe notes. */
export enum MachineNumber {
  Boot,
  WriteMode,
}

export class Firmware implements StreamListener, EraseListener, MountListener, RootListener {
  readonly superblocks: Superblocks;
  readonly mapping: Mapping;
  readonly buffer: WriteBuffer;
  readonly mode: PerformanceMode;
  readonly hostFrontier: Frontier;
  readonly collectorFrontier: Frontier;
  readonly stream: HostStream;
  readonly eraser: Eraser;
  readonly collector: Collector;
  readonly flusher: Flusher;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly trimmer: Trimmer;
  readonly smart = new SmartRecord();
  readonly io: MetadataIo;
  readonly root: RootBlocks;
  readonly marks: MarkScan;
  readonly checkpoint: Checkpoint;
  readonly mount: Mount;
  readonly shutdown: Shutdown;
  readonly boot: Boot;
  readonly tasks: HostTasks;

  constructor(board: Board, machine: Machine) {
    const { geometry, pairing } = board;
    this.superblocks = new Superblocks(geometry.superblocks, geometry.dies, board.probe);
    this.mapping = new Mapping(geometry, board.l2p, board.validBits, this.superblocks);
    this.buffer = new WriteBuffer(board.profile.policy.writeBufferSlots, board.content);
    this.mode = new PerformanceMode(board, this.superblocks, MachineNumber.WriteMode);
    this.hostFrontier = new Frontier(geometry, pairing, this.superblocks);
    this.collectorFrontier = new Frontier(geometry, pairing, this.superblocks);
    const { superblocks, mapping, buffer, mode, smart } = this;
    const host = this.hostFrontier;
    this.stream = new HostStream(board, buffer, host, mapping, superblocks, mode, smart);
    const { stream } = this;
    this.eraser = new Eraser(board, superblocks, smart);
    const { eraser } = this;
    const frontier = this.collectorFrontier;
    this.collector = new Collector({
      ...{ board, mapping, superblocks, frontier, eraser, stream, mode, smart },
    });
    const { collector } = this;
    this.flusher = new Flusher(board, buffer, stream);
    const { flusher } = this;
    this.reader = new Reader(board, mapping, buffer, smart);
    this.writer = new Writer({ board, mapping, superblocks, buffer, stream, flusher });
    const { writer, reader } = this;
    this.trimmer = new Trimmer(board, mapping, superblocks, collector);
    this.io = new MetadataIo(board);
    this.root = new RootBlocks(board, this.io);
    this.marks = new MarkScan(board, this.io, superblocks.bad);
    const { io, root, marks, hostFrontier, collectorFrontier, trimmer } = this;
    const common = { board, io, root, superblocks, eraser, writer, mode, smart };
    const frontiers = { hostFrontier, collectorFrontier };
    this.checkpoint = new Checkpoint({ ...common, ...frontiers, collector, stream });
    this.mount = new Mount({ ...common, ...frontiers, mapping, marks });
    this.shutdown = new Shutdown(board, this.checkpoint, root, smart);
    this.boot = new Boot(board, this.mount, MachineNumber.Boot);
    this.tasks = new HostTasks({ board, reader, writer, flusher, trimmer, stream, root, smart });
    const clients = [reader, writer, stream, collector, collector, eraser, io];
    new Retirer(board, clients, this.checkpoint);
    this.#listen();
    for (const part of this.#parts()) machine.add(part);
    machine.add(this.mode.machine);
    machine.add(this.boot.machine);
  }

  /** All rails are up: boots. */
  powerGood(): void {
    this.stream.held = true;
    this.boot.powerGood();
  }

  /** The state after a loss of power: nothing is known. */
  reset(): void {
    for (const part of this.#parts()) part.reset();
    this.tasks.mediaRefused = false;
    this.mode.machine.reset();
    this.boot.powerLost();
  }

  spaceFreed(): void {
    this.writer.spaceFreed();
    this.flusher.check();
  }

  superblockNeeded(): void {
    this.collector.pump();
  }

  superblockErased(_superblock: number): void {
    this.mode.review();
    this.collector.pump();
    this.stream.pump();
  }

  mounted(): void {
    this.boot.mounted();
  }

  mountFailed(): void {
    this.tasks.mediaRefused = true;
    this.boot.mountFailed();
  }

  rootFound(): void {
    this.mount.rootFound();
  }

  rootWritten(state: RootState): void {
    if (state === RootState.Dirty) this.#goOn();
    else if (this.shutdown.isWaiting) this.shutdown.sealed(state);
    else if (state === RootState.Formatted) this.mount.formatted();
  }

  /** The root says dirty: what was held back may be programmed. */
  #goOn(): void {
    if (this.checkpoint.isRunning) {
      this.checkpoint.settle();
      return;
    }
    this.stream.held = false;
    this.collector.paused = false;
    this.collector.pump();
    this.stream.pump();
  }

  /** Walks the FTL's tables; for tests. */
  verify(): void {
    this.mapping.verify();
    this.superblocks.verify();
  }

  #listen(): void {
    this.stream.listener = this;
    this.eraser.listener = this;
    this.mount.listener = this;
    this.root.listener = this;
    this.flusher.standby = this.shutdown;
  }

  #parts() {
    return [
      this.superblocks,
      this.buffer,
      this.stream,
      this.eraser,
      this.collector,
      this.flusher,
      this.reader,
      this.writer,
      this.trimmer,
      this.smart,
      this.io,
      this.root,
      this.marks,
      this.checkpoint,
      this.mount,
      this.shutdown,
    ];
  }
}
