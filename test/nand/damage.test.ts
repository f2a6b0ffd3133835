/** Goal: damage is kept by page until the block is erased. Method: single cases, exact values. */
import { describe, expect, it } from 'vitest';
import { Damage } from '../../nand/damage.ts';

const PAGES = 256;

describe('damage', () => {
  it('is none at first, and belongs to one page', () => {
    const damage = new Damage(PAGES);
    damage.add(7, 255, 0.125);
    expect([damage.rberOf(7, 255), damage.rberOf(8, 0), damage.rberOf(7, 254)]).toEqual([
      0.125, 0, 0,
    ]);
    expect(damage.count).toBe(1);
  });

  it('adds up to one half: a page that is all random is not wrong more often', () => {
    const damage = new Damage(PAGES);
    for (const rber of [0.25, 0.125, 0.25]) damage.add(0, 0, rber);
    expect(damage.rberOf(0, 0)).toBe(0.5);
    damage.add(0, 1, 0);
    expect(damage.count).toBe(1);
  });

  it('is healed with its block, first page to last, and not beyond', () => {
    const damage = new Damage(PAGES);
    for (const [block, page] of [
      [4, 255],
      [5, 0],
      [5, 255],
      [6, 0],
    ] as const) {
      damage.add(block, page, 0.1);
    }
    damage.heal(5);
    expect(damage.list()).toEqual([
      { block: 4, page: 255, rber: 0.1 },
      { block: 6, page: 0, rber: 0.1 },
    ]);
  });

  it('is saved in one order, whatever came first, and restored', () => {
    const [one, other] = [new Damage(PAGES), new Damage(PAGES)];
    one.add(9, 1, 0.2);
    one.add(1, 3, 0.3);
    other.add(1, 3, 0.3);
    other.add(9, 1, 0.2);
    expect(one.save()).toEqual(other.save());
    const restored = new Damage(PAGES);
    restored.add(2, 2, 0.4);
    restored.restore(one.save());
    expect(restored.list()).toEqual(one.list());
  });

  it('that is copied goes its own way', () => {
    const [origin, copy] = [new Damage(PAGES), new Damage(PAGES)];
    origin.add(3, 3, 0.2);
    copy.copyFrom(origin);
    origin.heal(3);
    copy.add(3, 4, 0.1);
    expect([origin.count, copy.rberOf(3, 3), copy.count]).toEqual([0, 0.2, 2]);
  });
});
