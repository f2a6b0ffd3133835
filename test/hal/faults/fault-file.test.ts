/**
 * Goal: a document comes back as it went, and a wrong one says where and what would be right.
 * Method: random documents through text and back; one wrong document for each rule, by the exact
 * sentence; arbitrary JSON never fails in another way.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadFault, type Fault, FIS_TYPES } from '../../../hal/faults/fault.ts';
import { parseFaultDocument, stringifyFaults } from '../../../hal/faults/fault-file.ts';
import { DESCRIPTOR_FIELDS, FAULT_KINDS } from '../../../hal/faults/fault-kinds.ts';
import type { FaultLimits } from '../../../hal/faults/fault-limits.ts';
import { FlashOps } from '../../../hal/flash-ops.ts';
import { FisType } from '../../../sata/fis.ts';
import { nearest } from '../../../tools/cli/suggest.ts';
import { anyFault, SMALL } from './fault-kit.ts';

const LIMITS: FaultLimits = {
  geometry: SMALL,
  dramRegions: [
    { name: 'l2p', bytes: 4096 },
    { name: 'valid-bits', bytes: 64 },
  ],
  descriptors: 16,
  suggest: nearest,
};

function sentenceOf(fault: unknown): string {
  try {
    parseFaultDocument(
      { version: 1, seed: 's', faults: [{ kind: 'uncorrectable' }, fault] },
      LIMITS,
    );
  } catch (error) {
    if (error instanceof BadFault) return error.message.replace('faults[1]', '');
    throw error;
  }
  return '';
}

describe('JSON', () => {
  it('gives back what went in', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 20 }),
        fc.array(anyFault, { maxLength: 10 }),
        (seed, faults) => {
          const document = { version: 1 as const, seed, faults };
          const text = stringifyFaults(document);
          const parsed = parseFaultDocument(JSON.parse(text));
          expect(parsed).toEqual(document);
          expect(stringifyFaults(parsed)).toBe(text);
        },
      ),
    );
  });

  it('is one fault a line', () => {
    const faults: Fault[] = [
      { kind: 'bit-errors', count: 9, where: { die: [0, 3], region: 'root' } },
      { times: 2, kind: 'lost-fis', fis: 'data' },
    ];
    expect(stringifyFaults({ version: 1, seed: 'x', faults })).toBe(`{
  "version": 1,
  "seed": "x",
  "faults": [
    {"kind":"bit-errors","count":9,"where":{"die":[0,3],"region":"root"}},
    {"kind":"lost-fis","fis":"data","times":2}
  ]
}
`);
  });

  it('has no form for a condition', () => {
    const fault: Fault = { kind: 'uncorrectable', if: () => true };
    expect(() => stringifyFaults({ version: 1, seed: 'x', faults: [fault] })).toThrow(
      'faults[0].if: a condition is a function and has no JSON form',
    );
  });

  it('of anything is a document or a BadFault', () => {
    const anyThing = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.record({ version: fc.constant(1), faults: fc.array(fc.jsonValue({ maxDepth: 2 })) }),
      fc.record({
        version: fc.constant(1),
        faults: fc.array(
          fc.tuple(anyFault, fc.string(), fc.jsonValue()).map(([fault, name, value]) => ({
            ...fault,
            [name]: value,
          })),
        ),
      }),
    );
    fc.assert(
      fc.property(anyThing, (document) => {
        try {
          parseFaultDocument(document, LIMITS);
        } catch (error) {
          expect(error).toBeInstanceOf(BadFault);
        }
      }),
    );
  });
});

describe('a wrong document', () => {
  it.each([
    [[], 'document: []; expected an object'],
    [{ version: 2, faults: [] }, 'version: 2; this program reads 1'],
    [{ version: 1 }, 'faults: missing; expected an array of faults'],
    [{ version: 1, fautls: [] }, 'document.fautls: no such field (did you mean faults?)'],
    [{ version: 1, seed: '', faults: [] }, 'seed: ""; expected a text of 1 to 200 letters'],
    [
      { version: 1, faults: new Array(10_001).fill({ kind: 'uncorrectable' }) },
      'faults: 10001 faults; 10000 at most',
    ],
  ])('%#', (document, sentence) => {
    const [path, problem] = sentence.split(/: (.*)/s) as [string, string];
    expect(() => parseFaultDocument(document, LIMITS)).toThrow(new BadFault(path, problem));
  });
});

describe('a wrong fault', () => {
  it.each([
    [7, ': 7; expected an object'],
    [{ kind: 'program-fial' }, '.kind: "program-fial" (did you mean program-fail?)'],
    [
      { kind: 'erase-fail', where: { block: 8 } },
      ".where.block: 8 is beyond the die's last block 7",
    ],
    [
      { kind: 'erase-fail', where: { block: [6, 8] } },
      ".where.block: 8 is beyond the die's last block 7",
    ],
    [
      { kind: 'erase-fail', where: { blok: 1 } },
      '.where.blok: no such field (did you mean block?)',
    ],
    [
      { kind: 'erase-fail', where: { die: [2, 1] } },
      '.where.die: [2,1]; the first is beyond the last',
    ],
    [
      { kind: 'erase-fail', where: { die: [1] } },
      '.where.die: [1]; expected a number or [first, last]',
    ],
    [
      { kind: 'erase-fail', where: { die: -1 } },
      '.where.die: -1; expected a whole number from 0 to 2147483647',
    ],
    [
      { kind: 'erase-fail', where: { channel: 0, die: 3 } },
      '.where.die: no such die is on the channel: die d is on d % 2',
    ],
    [
      { kind: 'erase-fail', where: { plane: 0, block: 3 } },
      '.where.block: no such block is in the plane: block b is in b % 2',
    ],
    [{ kind: 'dead-die' }, '.where.die: missing: this kind of fault must say which'],
    [
      { kind: 'bit-errors', where: { die: 1 } },
      '.count: missing; expected a whole number from 1 to 65535',
    ],
    [{ kind: 'slow-die', factor: 0.5 }, '.factor: 0.5; expected a number from 1 to 1000000'],
    [{ kind: 'slow-die', factor: 2, op: 'reed' }, '.op: "reed" (did you mean read?)'],
    [
      { kind: 'uncorrectable', times: 0 },
      '.times: 0; expected a whole number from 1 to 1125899906842624',
    ],
    [
      { kind: 'uncorrectable', times: 'often' },
      '.times: "often"; expected a whole number from 1 or "unlimited"',
    ],
    [
      { kind: 'uncorrectable', probability: 1.5 },
      '.probability: 1.5; expected a number from 0 to 1',
    ],
    [{ kind: 'uncorrectable', when: { from: 9, to: 8 } }, '.when.to: 8 is before "from" 9'],
    [{ kind: 'uncorrectable', when: { nht: 1 } }, '.when.nht: no such field (did you mean nth?)'],
    [{ kind: 'uncorrectable', if: true }, '.if: a condition is a function and has no JSON form'],
    [
      { kind: 'uncorrectable', count: 3 },
      '.count: uncorrectable has no such field; ' +
        'expected one of kind, note, where, when, times, probability',
    ],
    [
      { kind: 'wrong-block', where: { block: 4 }, toBlock: 1 },
      '.toBlock: 1 is not in the plane of block 4; 0 would be',
    ],
    [
      { kind: 'wrong-block', where: { block: 4 }, toBlock: 8 },
      ".toBlock: 8 is beyond the die's last block 7",
    ],
    [{ kind: 'dram-flip', region: 'l2p', bit: 1 }, ': give either "byte" or "cell"'],
    [
      { kind: 'dram-flip', region: 'l2p', byte: 1, bit: 8 },
      ".bit: 8 is beyond a byte's last bit 7",
    ],
    [
      { kind: 'dram-flip', region: 'lp2', byte: 1, bit: 7 },
      '.region: no region "lp2" (did you mean l2p?)',
    ],
    [
      { kind: 'dram-flip', region: 'l2p', cell: 1024, bit: 31 },
      ".cell: 1024 is beyond the region's last cell 1023",
    ],
    [
      { kind: 'sram-flip', descriptor: 16, field: 'page', bit: 31 },
      '.descriptor: 16 is beyond the last descriptor 15',
    ],
    [
      { kind: 'sram-flip', descriptor: 1, field: 'status', bit: 8 },
      '.bit: 8 is beyond the last bit 7 of status',
    ],
    [
      { kind: 'sram-flip', descriptor: 1, field: 'content', bit: 8 },
      '.slot: the field content holds one value a slot: say which',
    ],
    [{ kind: 'lost-fis', fis: 'dta' }, '.fis: "dta" (did you mean data?)'],
  ])('%j', (fault, sentence) => {
    expect(sentenceOf(fault)).toBe(sentence);
  });
});

describe('words shared with other rooms', () => {
  it('frame types are those of the link', () => {
    const codes: number[] = Object.values(FIS_TYPES);
    const known = Object.values(FisType).filter((code) => typeof code === 'number');
    expect(codes.sort()).toEqual(known.filter((code) => code !== FisType.BistActivate).sort());
  });

  it('descriptor fields are the columns of the descriptors', () => {
    const columns = Object.entries(new FlashOps(4)).filter(([, column]) =>
      ArrayBuffer.isView(column),
    );
    for (const [name, { bits, isPerSlot }] of Object.entries(DESCRIPTOR_FIELDS)) {
      const column = columns.find(([other]) => other === name)![1] as Int32Array;
      expect([name, column.BYTES_PER_ELEMENT * 8]).toEqual([name, bits]);
      expect([name, column.length]).toEqual([name, isPerSlot ? 32 : 4]);
    }
  });

  it('every kind says what it is', () => {
    for (const { says } of Object.values(FAULT_KINDS)) expect(says).not.toBe('');
  });
});
