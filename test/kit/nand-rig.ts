/**
 * A flash array on a bench: timeline, probe, descriptors, page store and array of a small drive, and
 * a core that does nothing but take ended descriptors out.
 */
import { TOY } from '../../firmware/profiles/toy.ts';
import { TaggedContent } from '../../hal/content/tagged-content.ts';
import { Core } from '../../hal/core.ts';
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
import { PageStore } from '../../nand/page-store.ts';
import { nandPart } from '../../nand/part.ts';

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

export class NandRig implements ProbeListener {
  readonly geometry = new Geometry(TOY.geometry);
  readonly timeline = new Timeline();
  readonly machine = new Machine(this.timeline, new UndoLog());
  readonly probe = new Probe();
  readonly contents = this.machine.add(new TaggedContent(this.machine));
  readonly core = this.machine.add(new Core('arm', 0, 400, this.timeline, this.probe));
  readonly interrupts = this.machine.add(new InterruptController());
  readonly ops = this.machine.add(new FlashOps(256));
  readonly store = new PageStore(this.geometry, this.contents, this.machine);
  readonly array: NandArray;
  /** Every phase a die entered: [die, from, to]. */
  readonly phases: [number, number, number][] = [];
  /** End of each operation: 'die kind @ns', as the probe tells it. */
  readonly ended: string[] = [];
  /** Descriptors that the core took, in order. */
  readonly taken: number[] = [];

  constructor() {
    this.array = this.machine.add(
      new NandArray({
        timeline: this.timeline,
        probe: this.probe,
        geometry: this.geometry,
        part: nandPart(TOY.partId),
        bus: TOY.bus,
        pairing: new PagePairing(this.geometry.pagesPerBlock),
        ops: this.ops,
        store: this.store,
        contents: this.contents,
        interrupts: this.interrupts,
        dram: { charge: () => 0 },
      }),
    );
    this.probe.listener = this;
    const task = this.core.define('retire', 0, 0, { run: () => this.#retire() });
    this.interrupts.connect(Irq.Flash, this.core, task);
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
