/**
 * Goal: flash receives the log in its order, and every slot's spare says exactly what it is.
 * Method: random writes with a full queue on the toy drive, cut at many events; the raw flash that
 * is left is held against what the host sent.
 */

import { describe, expect, test } from 'vitest';
import type { NandImage, RawSlot } from '../../firmware/drive.ts';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { Geometry } from '../../hal/geometry.ts';
import { RandomStream } from '../../hal/sim/random.ts';

const PAGES = TOY.identity.sectors / 8;
const GEOMETRY = new Geometry(TOY.geometry);
/** Commands of one burst enter the log in one piece. */
const BURST = TOY.policy.burstPages;

/** Where a tag came from: its command, its page, and whether it was the command's last page. */
interface Sent {
  command: number;
  lpn: number;
  isLast: boolean;
}

class Sender {
  readonly host = new Host('toy');
  readonly sent = new Map<number, Sent>();
  readonly ids: number[] = [];
  readonly #random: RandomStream;
  readonly #longest: number;
  #tag = 1;

  constructor(seed: string, longest: number) {
    this.#random = new RandomStream(seed, 'host-stream');
    this.#longest = longest;
    this.host.boot();
  }

  /** Queues `count` writes; the adapter keeps 32 of them outstanding. */
  submit(count: number): void {
    for (let i = 0; i < count; i++) {
      const pages = 1 + this.#random.below(this.#longest);
      const lpn = this.#random.below(PAGES - pages);
      const command = this.ids.length;
      const tags = Array.from({ length: pages }, () => this.#tag++);
      tags.forEach((tag, j) => {
        this.sent.set(tag, { command, lpn: lpn + j, isLast: j === pages - 1 });
      });
      this.ids.push(this.host.submitWrite(lpn * 8, tags));
    }
  }

  runEvents(count: number): void {
    for (let i = 0; i < count; i++) this.host.step();
  }

  runToEnd(): void {
    this.host.runUntil(() => this.ids.every((id) => this.host.result(id) !== null));
  }
}

/** Data slots of each superblock in unit order. */
function bySuperblock(image: NandImage): Map<number, RawSlot[]> {
  const found = new Map<number, RawSlot[]>();
  for (const slot of image.programmedSlots()) {
    if (slot.isMetadata) continue;
    const superblock = GEOMETRY.superblockOf(slot.slot);
    found.set(superblock, [...(found.get(superblock) ?? []), slot]);
  }
  return found;
}

/** Null, or the first slot that is out of the log's order within its superblock. */
function disorder(image: NandImage): string | null {
  for (const [superblock, slots] of bySuperblock(image)) {
    for (let i = 1; i < slots.length; i++) {
      if (slots[i]!.order >= slots[i - 1]!.order) continue;
      return `superblock ${superblock}: ${slots[i]!.order} after ${slots[i - 1]!.order}`;
    }
  }
  return null;
}

/** Null, or the first slot whose spare record is not what the host sent; learns the orders. */
function falseRecord(image: NandImage, sent: Map<number, Sent>): string | null {
  const orderOf = new Map<number, number>();
  const commandOf = new Map<number, number>();
  for (const slot of image.programmedSlots()) {
    if (slot.isMetadata) continue;
    const origin = sent.get(slot.content);
    if (origin === undefined) return `${slot.place} holds ${slot.content}, which nobody sent`;
    if (origin.lpn !== slot.lpn) return `${slot.place} says page ${slot.lpn}, not ${origin.lpn}`;
    if (origin.isLast !== slot.isLastOfCommand) return `${slot.place} has a false last flag`;
    const { command } = origin;
    if ((orderOf.get(command) ?? slot.order) !== slot.order) return `${slot.place}: two orders`;
    if ((commandOf.get(slot.order) ?? command) !== command) return `${slot.place}: shared order`;
    orderOf.set(command, slot.order);
    commandOf.set(slot.order, command);
  }
  return null;
}

/** Highest order on flash; orders are dense from 1. */
function highestOrder(image: NandImage): number {
  return Math.max(0, ...image.programmedSlots().map((slot) => slot.order));
}

describe('host stream: a queue of writes, cut', () => {
  // The fresh drive takes 15 LSB-only superblocks before collection mixes the orders.
  const COMMANDS = 240;
  const whole = new Sender('cut', 8);
  whole.submit(COMMANDS);
  const from = whole.host.drive.timeline.ordinal;
  whole.runToEnd();
  const events = whole.host.drive.timeline.ordinal - from;

  test('at 60 events: orders never fall within a superblock, every record is exact', () => {
    let last = 0;
    for (let cut = 1; cut <= 60; cut++) {
      const sender = new Sender('cut', 8);
      sender.submit(COMMANDS);
      sender.runEvents(Math.floor((events * cut) / 60));
      const acknowledged = sender.ids.filter((id) => sender.host.result(id) !== null).length;
      const fork = sender.host.cutPower();
      expect(disorder(fork)).toBeNull();
      expect(falseRecord(fork, sender.sent)).toBeNull();
      const highest = highestOrder(fork);
      expect(highest).toBeGreaterThanOrEqual(last);
      // What is not acknowledged and has an order is among the 32 outstanding commands.
      expect(highest).toBeLessThanOrEqual(acknowledged + 32);
      last = highest;
    }
    expect(last).toBeGreaterThan(COMMANDS - 40);
  });

  test('at every 7th event of a run: the image without a cut obeys the same rules', () => {
    const sender = new Sender('every', 8);
    sender.submit(80);
    while (sender.ids.some((id) => sender.host.result(id) === null)) {
      sender.runEvents(7);
      const { image } = sender.host.drive;
      expect(disorder(image) ?? falseRecord(image, sender.sent)).toBeNull();
    }
  });

  test('what a cut leaves is the image of that instant, and stays so while the drive goes on', () => {
    const sender = new Sender('fork', 8);
    sender.submit(100);
    sender.runEvents(300);
    const fork = sender.host.drive.image.fork();
    const then = fork.programmedSlots();
    sender.runToEnd();
    expect(fork.programmedSlots()).toEqual(then);
    expect(sender.host.drive.image.programmedSlots().length).toBeGreaterThan(then.length);
  });
});

describe('host stream: orders', () => {
  test('are dense over writes and trims, one a command, one command at a time', () => {
    const host = new Host('toy');
    host.boot();
    host.write(0, [1, 2, 3]); // order 1
    host.trim([{ lba: 80, sectors: 8 }]); // order 2
    host.write(8, [4]); // order 3
    host.write(16, [5, 6], 11); // order 4, a page and a part of one
    host.flush();
    const found = host.drive.image
      .programmedSlots()
      .filter((slot) => !slot.isMetadata)
      .map(({ lpn, order, content, isLastOfCommand }) => [lpn, order, content, isLastOfCommand]);
    const mixture = found[5]![2];
    expect(found).toEqual([
      [0, 1, 1, false],
      [1, 1, 2, false],
      [2, 1, 3, true],
      [1, 3, 4, true],
      [2, 4, 5, false],
      [3, 4, mixture, true],
    ]);
    expect(host.drive.contents.sectorTag(mixture as number, 2)).toBe(6);
    expect(host.drive.contents.sectorTag(mixture as number, 3)).toBe(0);
  });

  test('a command longer than a burst keeps one order, its pages ascending in the log', () => {
    const sender = new Sender('long', 4 * BURST);
    sender.submit(20);
    sender.runToEnd();
    sender.host.flush();
    const { image } = sender.host.drive;
    expect(falseRecord(image, sender.sent)).toBeNull();
    const newestPage = new Map<number, number>();
    let wrong = 0;
    for (const slot of [...bySuperblock(image).values()].flat()) {
      if ((newestPage.get(slot.order) ?? -1) > slot.lpn) wrong++;
      newestPage.set(slot.order, slot.lpn);
    }
    expect(wrong).toBe(0);
    expect(highestOrder(image)).toBe(20);
  });
});
