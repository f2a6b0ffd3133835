/**
 * Goal: the writer's text is a value change dump, exact to the byte, within its window and size.
 * Method: small dumps written out by hand after IEEE 1364; GTKWave's own reader as the judge.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { HIGH_Z, UNKNOWN, type VcdWindow, VcdWriter } from '../../../tools/trace/vcd-writer.ts';
import { clientsReady, runWell } from '../../kit/clients.ts';
import { bodyOf, TextBox } from './trace-kit.ts';

const EVERYTHING: VcdWindow = {
  fromTicks: 0,
  toTicks: Number.POSITIVE_INFINITY,
  bytesMax: Number.POSITIVE_INFINITY,
};

/** A writer with a wire, a bus and a text, numbered 0 to 2. */
function small(window: Partial<VcdWindow> = {}): { box: TextBox; writer: VcdWriter } {
  const box = new TextBox();
  const writer = new VcdWriter(box, { ...EVERYTHING, ...window });
  writer.header('bench', 'three signals');
  writer.scope('top');
  writer.wire('RB_n', 1, 1);
  writer.wire('DQ', 8, HIGH_Z);
  writer.text('state', 'IDLE');
  writer.upscope();
  writer.endHeader();
  return { box, writer };
}

test('header, first values, changes, end', () => {
  const { box, writer } = small();
  writer.set(2, 'BUSY');
  writer.advance(15);
  writer.set(0, 0);
  writer.set(1, 0xa5);
  writer.advance(20);
  writer.set(1, UNKNOWN);
  writer.finish(30);
  expect(box.text).toBe(`$version bench $end
$comment three signals $end
$timescale 100 ps $end
$scope module top $end
$var wire 1 ! RB_n $end
$var wire 8 " DQ [7:0] $end
$var string 1 # state $end
$upscope $end
$enddefinitions $end
#0
$dumpvars
1!
bz "
sBUSY #
$end
#15
0!
b10100101 "
#20
bx "
#30
`);
  expect(writer.bytes).toBe(box.text.length);
  expect(writer.changes).toBe(3);
});

test('to and fro within an instant is no change', () => {
  const { box, writer } = small();
  writer.advance(10);
  writer.set(0, 0);
  writer.set(0, 1);
  writer.set(1, 1);
  writer.set(1, 2);
  writer.finish(10);
  expect(bodyOf(box.text).split('$end\n')[1]).toBe('#10\nb10 "\n');
});

describe('window', () => {
  test('begins with the values that hold there, its own instant included', () => {
    const { box, writer } = small({ fromTicks: 100, toTicks: 200 });
    writer.advance(50);
    writer.set(0, 0);
    writer.advance(100);
    writer.set(2, 'tR');
    writer.advance(150);
    writer.set(0, 1);
    writer.advance(200);
    writer.set(1, 7);
    writer.advance(201);
    writer.set(1, 8);
    expect(writer.isOver).toBe(true);
    writer.finish(500);
    expect(bodyOf(box.text)).toBe(
      '#100\n$dumpvars\n0!\nbz "\nstR #\n$end\n#150\n1!\n#200\nb111 "\n',
    );
  });

  test('a run that ends before it still gives a whole file', () => {
    const { box, writer } = small({ fromTicks: 100 });
    writer.advance(50);
    writer.set(0, 0);
    writer.finish(60);
    expect(bodyOf(box.text)).toBe('#100\n$dumpvars\n0!\nbz "\nsIDLE #\n$end\n');
  });
});

test('the file stays below its size, and says that it is cut', () => {
  const { box, writer } = small({ bytesMax: 1000 });
  for (let ticks = 1; !writer.isOver; ticks++) {
    writer.advance(ticks);
    writer.set(0, ticks & 1);
  }
  writer.finish(10_000);
  expect(writer.isFull).toBe(true);
  expect(box.text.length).toBeLessThanOrEqual(1000);
  expect(box.text.endsWith('!\n')).toBe(true);
});

test('time that goes back is refused', () => {
  const { writer } = small();
  writer.advance(10);
  expect(() => writer.advance(9)).toThrow('forwards in time');
});

test('every signal of a large array has an identifier of its own', () => {
  const box = new TextBox();
  const writer = new VcdWriter(box, EVERYTHING);
  for (let i = 0; i < 10_000; i++) writer.wire('w', 1, 0);
  const ids = [...box.text.matchAll(/^\$var wire 1 (\S+) w \$end$/gm)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(10_000);
});

const ready = clientsReady('VCD files', ['vcd2fst', 'fst2vcd']);
describe.runIf(ready)('GTKWave', () => {
  it('reads the file and gives the same changes back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bf3-vcd-'));
    try {
      const { box, writer } = small();
      writer.advance(15);
      writer.set(0, 0);
      writer.set(1, 0xa5);
      writer.set(2, 'DATA_OUT:8640');
      writer.finish(40);
      const [vcd, fst, back] = ['a.vcd', 'a.fst', 'b.vcd'].map((name) => join(folder, name));
      writeFileSync(vcd!, box.text);
      await runWell('vcd2fst', [vcd!, fst!]);
      await runWell('fst2vcd', ['-f', fst!, '-o', back!]);
      const text = readFileSync(back!, 'utf8');
      expect(text).toMatch(/\$timescale\s+100ps\s+\$end/);
      expect(text).toMatch(/\$var string \S+ # state \$end/);
      expect(text.split('#15\n')[1]!.split('\n').sort()).toEqual(
        ['', '#40', '0!', 'b10100101 "', 'sDATA_OUT:8640 #'].sort(),
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
