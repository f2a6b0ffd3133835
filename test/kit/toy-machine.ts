/**
 * A machine of two parts, small enough to run thousands of times: a writer that scatters values
 * over a big table, and a reader that adds up what it finds and now and then calls the writer off.
 * Both arm alarms with varied delays, also equal ones.
 */
import { BigTable } from '../../hal/sim/big-table.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import { Machine, type Saveable, type Saved } from '../../hal/sim/snapshot.ts';
import { type Alarm, type AlarmOwner, Timeline } from '../../hal/sim/timeline.ts';
import { UndoLog } from '../../hal/sim/undo-log.ts';

const WRITERS = 5;
const RECENT = 8;

class Writer implements AlarmOwner, Saveable {
  readonly kind = 'toy.writer';
  readonly version = 1;
  readonly alarms: Alarm[];
  readonly recent = new Int32Array(RECENT);
  writeCount = 0;
  readonly #toy: ToyMachine;

  constructor(toy: ToyMachine) {
    this.#toy = toy;
    this.alarms = Array.from({ length: WRITERS }, (_, tag) =>
      toy.timeline.claim(`writer ${tag}`, this, tag),
    );
  }

  onAlarm(tag: number): void {
    const { table, draws } = this.#toy;
    const index = draws.below(table.values.length);
    this.recent[this.writeCount++ % RECENT] = index;
    if (draws.below(20) === 0) table.clear(index & ~15, 16);
    else table.write(index, draws.uint32() | 0);
    if (draws.below(200) === 0) this.#toy.grow();
    this.alarms[tag]!.armAfter(draws.below(4) * 10);
  }

  save(): Saved {
    return { writeCount: this.writeCount, recent: this.recent.slice() };
  }

  restore(saved: Saved): void {
    this.recent.set(saved.recent as Int32Array);
    this.writeCount = saved.writeCount as number;
  }
}

class Reader implements AlarmOwner, Saveable {
  readonly kind = 'toy.reader';
  readonly version = 3;
  readonly alarm: Alarm;
  sum = 0;
  /** Sums of the past, growing: a part whose state has no fixed size. */
  #past: number[] = [];
  readonly #toy: ToyMachine;

  constructor(toy: ToyMachine) {
    this.#toy = toy;
    this.alarm = toy.timeline.claim('reader', this);
  }

  onAlarm(): void {
    const { table, writer, draws } = this.#toy;
    for (const index of writer.recent) this.sum = (this.sum + table.values[index]!) | 0;
    if (this.#past.length < 100) this.#past.push(this.sum);
    const other = writer.alarms[draws.below(WRITERS)]!;
    if (other.armed) other.disarm();
    else other.armAfter(draws.below(30));
    this.alarm.armAfter(15);
  }

  save(): Saved {
    const past = Float64Array.from(this.#past);
    return {
      sum: this.sum,
      past,
      nested: { names: ['a', 'ü€😀'], half: this.sum / 2, none: null },
    };
  }

  restore(saved: Saved): void {
    this.sum = saved.sum as number;
    this.#past = [...(saved.past as Float64Array)];
  }
}

export class ToyMachine {
  readonly timeline = new Timeline();
  readonly log = new UndoLog();
  readonly machine = new Machine(this.timeline, this.log);
  readonly draws = this.machine.add(new RandomStream('toy', 'draws'));
  readonly table: BigTable;
  /** Grows while the machine runs. */
  readonly marks: BigTable;
  readonly writer: Writer;
  readonly reader: Reader;

  constructor(cells = 4096) {
    this.table = this.machine.addTable(new BigTable('toy-cells', cells, this.log));
    this.marks = this.machine.addTable(new BigTable('toy-marks', 2, this.log));
    this.writer = this.machine.add(new Writer(this));
    this.reader = this.machine.add(new Reader(this));
    for (const alarm of this.writer.alarms) alarm.armAfter(10);
    this.reader.alarm.armAfter(10);
  }

  /** An input from outside: the host pokes a cell and wakes the first writer. */
  poke(value: number): void {
    this.table.write(value % this.table.values.length, value);
    const alarm = this.writer.alarms[0]!;
    if (!alarm.armed) alarm.armAfter(value % 50);
  }

  /** Takes one more mark, as a pool that grows by doubling does. */
  grow(): void {
    const used = this.marks.values[0]! + 1;
    if (used === this.marks.values.length) this.marks.growTo(used * 2);
    this.marks.write(0, used);
    this.marks.write(used, this.writer.writeCount);
  }

  /** What must agree for two machines to be at the same instant of the same run. */
  get fingerprint(): string {
    const { ordinal, nowNs, hash } = this.timeline;
    return `${ordinal} at ${nowNs} ns, run ${hash}, state ${this.machine.stateHash()}`;
  }
}
