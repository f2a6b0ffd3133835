/**
 * A flash array on a bench: timeline, probe, descriptors, cells and array of a small drive, and a
 * core that does nothing but take ended descriptors out. Cells are perfect unless a test asks for
 * error physics or wear.
 */
import { TOY } from '../../firmware/profiles/toy.ts';
import { TaggedContent } from '../../hal/content/tagged-content.ts';
import { Core } from '../../hal/core.ts';
import { FaultList } from '../../hal/faults/fault-list.ts';
import { FlashOp, FlashOps, SLOTS_PER_OP } from '../../hal/flash-ops.ts';
import { Geometry } from '../../hal/geometry.ts';
import { InterruptController } from '../../hal/interrupts.ts';
import { PagePairing } from '../../hal/pairing.ts';
import { Irq } from '../../hal/ports.ts';
import { Probe, ProbeKind, type ProbeListener } from '../../hal/sim/probe.ts';
import { Machine } from '../../hal/sim/snapshot.ts';
import { Timeline } from '../../hal/sim/timeline.ts';
import { UndoLog } from '../../hal/sim/undo-log.ts';
import { NandArray } from '../../nand/array.ts';
import { ExactReads } from '../../nand/exact-reads.ts';
import { Media } from '../../nand/media.ts';
import { PageStore } from '../../nand/page-store.ts';
import { nandPart } from '../../nand/part.ts';
import { IMFT_25NM } from '../../nand/physics/error-law.ts';
import { ErrorModel } from '../../nand/physics/error-model.ts';
import { InterruptedDraws } from '../../nand/physics/interrupted.ts';
import { Variation } from '../../nand/physics/variation.ts';
import { Wear, type WearLaw } from '../../nand/physics/wear.ts';
import { RetentionClock } from '../../nand/retention-clock.ts';

/** What a descriptor is to hold; slots 0 to 3 of a multi-plane page. */
export interface OpRequest {
  die: number;
  block?: number;
  page?: number;
  slotMask?: number;
  urgent?: boolean;
  /** Data handle of each slot of a program. */
  content?: readonly number[];
  pageWord?: readonly number[];
  order?: readonly number[];
}

export interface NandRigOptions {
  /** Bit errors as the physics gives them; without, only faults and cuts make any. */
  errors?: boolean;
  /** Codewords are decoded instead of counted. */
  exact?: boolean;
  /** Blocks age and fail by this law; without jitter. */
  wear?: WearLaw;
  seed?: string;
  /** What is in the cells already, e.g. a fork of another rig's. */
  from?: NandRig;
}

/** Supply, power-up and first reset of a die take no longer: 100 us, 1 ms, some features. */
const BRING_UP_NS = 8_000_000;

export class NandRig implements ProbeListener {
  readonly geometry = new Geometry(TOY.geometry);
  readonly timeline = new Timeline();
  readonly machine = new Machine(this.timeline, new UndoLog());
  readonly probe = new Probe();
  readonly contents: TaggedContent;
  readonly core = this.machine.add(new Core('arm', 0, 400, this.timeline, this.probe));
  readonly interrupts = this.machine.add(new InterruptController());
  readonly ops = this.machine.add(new FlashOps(256));
  readonly faults = this.machine.add(new FaultList(this.geometry, 'faults'));
  readonly pairing = new PagePairing(this.geometry.pagesPerBlock);
  readonly store: PageStore;
  readonly clock: RetentionClock;
  readonly media: Media;
  readonly draws: InterruptedDraws;
  readonly wear: Wear | null;
  readonly array: NandArray;
  /** Every phase a die entered: [die, from, to]. */
  readonly phases: [number, number, number][] = [];
  /** End of each operation: 'die kind @ns', as the probe tells it. */
  readonly ended: string[] = [];
  /** Descriptors that the core took, in order. */
  readonly taken: number[] = [];
  /** Instants at which a fault asked for the power to be cut. */
  readonly cutsNs: number[] = [];

  constructor(options: NandRigOptions = {}) {
    const { machine, geometry, timeline, pairing, probe, ops, interrupts, faults } = this;
    const { from, seed = 'bench' } = options;
    const contents = from?.contents.fork(machine) ?? new TaggedContent(machine);
    const store = from?.store.fork(contents, machine) ?? new PageStore(geometry, contents, machine);
    this.contents = machine.add(contents);
    this.store = store;
    this.clock = machine.add(new RetentionClock(timeline));
    machine.add(store.damage);
    const variation = new Variation(seed, geometry.blocks, pairing);
    const errors = options.errors ? new ErrorModel(seed, IMFT_25NM, variation) : null;
    const exact = options.exact ? new ExactReads(geometry, contents, errors) : null;
    this.media = new Media({
      ...{ geometry, store, contents, pairing, errors, exact },
      clock: this.clock,
    });
    this.draws = new InterruptedDraws(seed);
    const { wear: law } = options;
    this.wear =
      law === undefined ? null : new Wear(seed, geometry.blocks, variation, { law, jitter: false });
    this.array = machine.add(
      new NandArray({
        ...{ timeline, probe, geometry, pairing, ops, contents, interrupts, faults },
        part: nandPart(TOY.partId),
        bus: TOY.bus,
        media: this.media,
        dram: { charge: () => 0 },
        ...{ wear: this.wear, draws: this.draws },
      }),
    );
    this.array.onPowerCut = (atNs) => this.cutsNs.push(atNs);
    this.probe.listener = this;
    const task = this.core.define('retire', 0, 0, { run: () => this.#retire() });
    this.interrupts.connect(Irq.Flash, this.core, task);
  }

  /** Supply and identification of every die, as cycles need them; the bus is idle afterwards. */
  bringUp(): this {
    this.array.powerOn();
    this.timeline.runUntil(this.timeline.nowNs + 100_000);
    for (let die = 0; die < this.geometry.dies; die++)
      this.array.identify(die, 1_100_000 + die * 120_000);
    this.timeline.runUntil(this.timeline.nowNs + BRING_UP_NS);
    return this;
  }

  note(kind: ProbeKind, a: number, b: number, c: number): void {
    if (kind === ProbeKind.DiePhase) this.phases.push([a, b, c]);
    if (kind === ProbeKind.FlashDone) {
      this.ended.push(`${b} ${FlashOp[a]} @${this.timeline.nowNs}`);
    }
  }

  read(request: OpRequest): number {
    return this.#submit(FlashOp.Read, request);
  }

  program(request: OpRequest): number {
    return this.#submit(FlashOp.Program, request);
  }

  erase(request: OpRequest): number {
    return this.#submit(FlashOp.Erase, request);
  }

  /** What slot `j` of a descriptor holds: [content, page word, order]. */
  slot(op: number, j: number): [number, number, number] {
    const at = op * SLOTS_PER_OP + j;
    return [this.ops.content[at]!, this.ops.pageWord[at]!, this.ops.order[at]!];
  }

  /** Runs until nothing is under way. */
  settle(): this {
    this.timeline.runUntilQuiet();
    return this;
  }

  /** Power goes at an instant: what runs is cut short, and descriptors are gone. */
  cutAt(atNs: number): this {
    this.timeline.runUntil(atNs);
    this.array.reset();
    this.ops.reset();
    this.contents.sweep(this.store.countedContents());
    return this.settle();
  }

  /** Block of a plane of a die, counted over the whole array. */
  blockIndex(die: number, block: number): number {
    return this.geometry.blockIndex(die, block);
  }

  #submit(kind: FlashOp, request: OpRequest): number {
    const { ops } = this;
    const op = ops.take();
    ops.op[op] = kind;
    ops.die[op] = request.die;
    ops.block[op] = request.block ?? 0;
    ops.page[op] = request.page ?? 0;
    ops.slotMask[op] = request.slotMask ?? 1;
    ops.urgent[op] = request.urgent === true ? 1 : 0;
    for (let j = 0; j < SLOTS_PER_OP; j++) {
      ops.content[op * SLOTS_PER_OP + j] = request.content?.[j] ?? 0;
      ops.pageWord[op * SLOTS_PER_OP + j] = request.pageWord?.[j] ?? 0;
      ops.order[op * SLOTS_PER_OP + j] = request.order?.[j] ?? 0;
    }
    this.array.submit(op);
    return op;
  }

  #retire(): void {
    for (let op = this.array.takeDone(); op >= 0; op = this.array.takeDone()) {
      this.taken.push(op);
    }
    this.interrupts.acknowledge(Irq.Flash, false);
  }
}
