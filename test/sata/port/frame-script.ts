/**
 * Frame faults by number: the nth frame of a type is corrupt or lost. It notes the type of every
 * frame it was asked about, in order.
 */
import { FrameVerdict } from '../../../hal/faults/fault-list.ts';
import type { FisType } from '../../../sata/fis.ts';
import type { FrameFaults } from '../../../sata/link-faults.ts';

export interface ScriptedFault {
  type: FisType;
  verdict: FrameVerdict;
  /** Frame of its type that it begins at, from 1. */
  nth?: number;
  times?: number;
}

export class FrameScript implements FrameFaults {
  linkArmed = true;
  readonly asked: FisType[] = [];
  readonly #faults: readonly ScriptedFault[];

  constructor(...faults: readonly ScriptedFault[]) {
    this.#faults = faults;
  }

  onFrame(type: FisType): FrameVerdict {
    this.asked.push(type);
    const number = this.asked.filter((other) => other === type).length;
    for (const { type: own, verdict, nth = 1, times = 1 } of this.#faults) {
      if (own === type && number >= nth && number < nth + times) return verdict;
    }
    return FrameVerdict.Ok;
  }

  /** Forgets what was asked: numbers count from here. */
  restart(): void {
    this.asked.length = 0;
  }
}
