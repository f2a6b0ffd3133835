/**
 * Goal: a host that breaks a rule of the bus is told which, and the die does what the part does.
 * Method: each rule is broken once, on its own; the list of rules is complete.
 */
import { describe, expect, test } from 'vitest';
import { RULE_TEXT, ViolationRule } from '../../../nand/onfi/rules.ts';
import { OnfiRig, TOY } from './rig.ts';

const HERE = { block: 4, page: 0 };
const NEXT = { block: 4, page: 1 };
const BAD_BLOCK = 40;

/** By rule: the sequence that breaks it, and nothing else, on a ready die. */
const BREAKS: Readonly<Record<ViolationRule, (rig: OnfiRig) => void>> = {
  [ViolationRule.FirstReset]: (rig) => {
    rig.die.powerOff(rig.nowNs);
    rig.die.powerOn(rig.nowNs);
    rig.wait().command(0x70);
  },
  [ViolationRule.PageOrder]: (rig) => {
    rig.program({ block: 4, page: 2 }, 1).program(NEXT, 2);
    expect(rig.stored(4, 1, 1)).toEqual([2]);
    expect(rig.die.lun.gapCount).toBe(2);
  },
  [ViolationRule.ProgramCount]: (rig) => {
    rig.program(HERE, 0xf0).program(HERE, 0x3c);
    expect(rig.stored(4, 0, 1)).toEqual([0x30]);
  },
  [ViolationRule.PlaneAddress]: (rig) => {
    rig.at(0x60, HERE).command(0xd1).wait().at(0x60, { block: 6, page: 0 }).command(0xd0).wait();
    expect([rig.array.eraseCounts[4], rig.array.eraseCounts[6]]).toEqual([0, 1]);
  },
  [ViolationRule.CopybackPlane]: (rig) => {
    rig.at(0x00, HERE).command(0x35).wait().at(0x85, { block: 5, page: 0 }).command(0x10).wait();
  },
  [ViolationRule.SecondOpener]: (rig) => {
    rig.at(0x81, HERE).data(1).command(0x10).wait();
    expect(rig.stored(4, 0, 1)).toEqual([1]);
  },
  [ViolationRule.LunEnd]: (rig) => {
    const last = { block: TOY.blocksPerDie - 1, page: TOY.pagesPerBlock - 1 };
    rig.at(0x00, last).command(0x30).wait().command(0x31).wait();
  },
  [ViolationRule.OddColumn]: (rig) => {
    rig
      .setTiming(0x15)
      .at(0x80, { ...HERE, column: 3 })
      .data(5, 6)
      .command(0x10)
      .wait();
    expect(rig.stored(4, 0)).toEqual([0xff, 0xff, 5, 6]);
  },
  [ViolationRule.SynchronousReset]: (rig) => rig.command(0xfc),
  [ViolationRule.ColumnRange]: (rig) => {
    rig
      .at(0x80, { ...HERE, column: 8638 })
      .data(1, 2, 3)
      .command(0x10)
      .wait();
    expect(rig.stored(4, 0, 2, 8638)).toEqual([1, 2]);
  },
  [ViolationRule.WriteProtected]: (rig) => {
    rig.die.writeProtect(0, rig.nowNs);
    rig.at(0x60, HERE).command(0xd0);
  },
  [ViolationRule.UnsupportedOpcode]: (rig) => rig.command(0x65).address(1, 2).data(3),
  [ViolationRule.CommandWhileBusy]: (rig) => {
    rig.at(0x60, HERE).command(0xd0).at(0x00, HERE).wait();
  },
  [ViolationRule.DataTooEarly]: (rig) => {
    rig.command(0x80).address(0, 0, 64, 0, 0);
    rig.data(1).command(0x10).wait();
    expect(rig.stored(4, 0, 1)).toEqual([1]);
  },
  [ViolationRule.SetFeaturesWhileBusy]: (rig) => {
    rig.at(0x80, HERE).data(1).command(0x15).wait().command(0xef).address(0x10).data(0, 0, 0, 0);
  },
  [ViolationRule.FactoryBadBlock]: (rig) => {
    expect(rig.readPage({ block: BAD_BLOCK, page: 0, column: 8192 }, 1)).toEqual([0]);
    rig.erase(BAD_BLOCK);
    expect(rig.readPage({ block: BAD_BLOCK, page: 0, column: 8192 }, 1)).toEqual([0xff]);
  },
  [ViolationRule.CacheSequence]: (rig) => {
    rig.at(0x00, HERE).command(0x30).wait().command(0x3f).wait().command(0x3f);
  },
  [ViolationRule.ConfirmWithoutOpener]: (rig) => rig.at(0x00, HERE).command(0x10),
  [ViolationRule.SequenceAbandoned]: (rig) => {
    rig.at(0x80, HERE).data(1).at(0x00, HERE).command(0x30).wait();
    expect(rig.array.pageOf(4, 0)).toBeNull();
  },
  [ViolationRule.AddressCycles]: (rig) => rig.command(0x60).address(1, 2).command(0x70),
  [ViolationRule.AddressRange]: (rig) => rig.command(0x90).address(0x40),
  [ViolationRule.LunAddress]: (rig) => {
    rig.at(0x60, { block: TOY.blocksPerDie, page: 0 }).command(0xd0);
    expect(rig.status()).toBe(0xe0);
  },
  [ViolationRule.DataInUnexpected]: (rig) => rig.data(1),
  [ViolationRule.DataOutUnexpected]: (rig) => {
    expect(rig.read(1)).toEqual([0xff]);
  },
  [ViolationRule.DataOutWhileBusy]: (rig) => {
    rig.at(0x00, HERE).command(0x30);
    expect(rig.read(1)).toEqual([0xff]);
  },
  [ViolationRule.EnhancedStatus]: (rig) => {
    rig.command(0x90).address(0);
    expect(rig.planeStatus(0)).toBe(0xe0);
  },
  [ViolationRule.FeatureAddress]: (rig) => {
    expect(rig.command(0xee).address(0x02).wait().read(4)).toEqual([0, 0, 0, 0]);
  },
  [ViolationRule.FeatureValue]: (rig) => {
    rig.setFeature(0x01, 0x17).pass(2_000);
    expect(rig.command(0xee).address(0x01).wait().read(1)).toEqual([0]);
  },
  [ViolationRule.OtpArea]: (rig) => {
    rig.setFeature(0x90, 1).at(0x60, HERE).command(0xd0);
    expect(rig.status()).toBe(0xe0);
  },
  [ViolationRule.WriteProtectWhileBusy]: (rig) => {
    rig.at(0x60, HERE).command(0xd0);
    rig.die.writeProtect(0, rig.nowNs);
  },
};

const RULES = Object.keys(BREAKS).map(Number) as ViolationRule[];

describe('each rule, broken once', () => {
  test.each(RULES.map((rule) => [ViolationRule[rule], rule] as const))('%s', (name, rule) => {
    const rig = OnfiRig.ready(TOY, [BAD_BLOCK]);
    BREAKS[rule](rig);
    expect(rig.broken).toEqual([name]);
  });

  test('each has a sentence of its own', () => {
    const sentences = RULES.map((rule) => RULE_TEXT[rule]);
    expect(new Set(sentences).size).toBe(RULES.length);
    expect(RULES.length).toBe(Object.keys(ViolationRule).length / 2);
  });
});

describe('the same rule in other places', () => {
  const brokenBy = (script: (rig: OnfiRig) => void): string[] => {
    const rig = OnfiRig.ready(TOY, [BAD_BLOCK]);
    script(rig);
    return rig.broken;
  };

  test('order and count see a page that still waits behind a cache program', () => {
    const again = (page: number) => (rig: OnfiRig) => {
      rig.at(0x80, NEXT).data(1).command(0x15).wait();
      rig.at(0x80, { block: 4, page }).data(2).command(0x10).wait();
    };
    expect(brokenBy(again(0))).toEqual(['PageOrder']);
    expect(brokenBy(again(1))).toEqual(['ProgramCount']);
    expect(brokenBy(again(2))).toEqual([]);
  });

  test('gaps upwards are legal and counted', () => {
    const rig = OnfiRig.ready();
    for (const page of [0, 1, 2, 3, 6, 7, 10]) rig.program({ block: 4, page }, page);
    expect(rig.broken).toEqual([]);
    expect(rig.die.lun.gapCount).toBe(4);
  });

  test('a plain read or erase in a cache operation', () => {
    expect(
      brokenBy((rig) => rig.at(0x80, HERE).data(1).command(0x15).wait().at(0x60, HERE)),
    ).toEqual(['CacheSequence']);
    expect(
      brokenBy((rig) => {
        rig.at(0x00, HERE).command(0x30).wait().command(0x31).wait();
        rig.at(0x00, NEXT).command(0x30);
      }),
    ).toEqual(['CacheSequence']);
  });

  test('a group with two pages takes the later page for all', () => {
    const rig = OnfiRig.ready();
    rig.at(0x80, HERE).data(1).command(0x11).wait();
    rig.at(0x80, { block: 5, page: 1 }).data(2).command(0x10).wait();
    expect(rig.broken).toEqual(['PlaneAddress']);
    expect([rig.stored(4, 1, 1), rig.stored(5, 1, 1)]).toEqual([[1], [2]]);
  });

  test('over-programming ands the cells and damages the partner', () => {
    const rig = OnfiRig.ready();
    for (let page = 0; page < 5; page++) rig.program({ block: 4, page }, 0x55, page);
    rig.program({ block: 4, page: 4 }, 0x0f, 0xff);
    expect(rig.stored(4, 4, 2)).toEqual([0x05, 0x04]);
    const tail = (page: number) => Buffer.from(rig.stored(4, page, 8000, 2));
    expect(Buffer.compare(tail(0), tail(1))).not.toBe(0);
  });

  test('data out before tWHR and tRR', () => {
    const rig = OnfiRig.ready();
    rig.at(0x00, HERE).command(0x30);
    rig.nowNs = rig.die.readyAtNs + 39;
    rig.die.readData(new Uint8Array(1), rig.nowNs);
    rig.pass(1).die.readData(new Uint8Array(1), rig.nowNs);
    rig.command(0x70).pass(119);
    rig.die.readData(new Uint8Array(1), rig.nowNs);
    rig.pass(1).die.readData(new Uint8Array(1), rig.nowNs);
    expect(rig.broken).toEqual(['DataTooEarly', 'DataTooEarly']);
  });
});
