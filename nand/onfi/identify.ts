/**
 * What a die says of itself besides the parameter page: READ ID bytes and the unique id.
 *
 * Sources: ONFI 2.2, sections 5.6 and 5.8.
 */

import type { NandPart } from '../part.ts';
import { parameterPageOf } from './parameter-page.ts';

/** Address of READ ID that gives maker and device. */
export const ID_ADDRESS = 0x00;
/** Address of READ ID that gives the ONFI signature. */
export const SIGNATURE_ADDRESS = 0x20;
/** "ONFI". */
export const ONFI_SIGNATURE: readonly number[] = [0x4f, 0x4e, 0x46, 0x49];
const UNIQUE_ID_BYTES = 16;
/** Id and complement; READ UNIQUE ID repeats them 16 times. */
export const UNIQUE_RECORD_BYTES = 2 * UNIQUE_ID_BYTES;

/** FNV-1a of text, then a xorshift run from it: 16 bytes that differ between serial numbers. */
export function uniqueIdOf(serialNumber: string): Uint8Array {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < serialNumber.length; i++) {
    hash = Math.imul(hash ^ serialNumber.charCodeAt(i), 0x01000193);
  }
  hash |= 1;
  return Uint8Array.from({ length: UNIQUE_ID_BYTES }, () => {
    hash ^= hash << 13;
    hash ^= hash >>> 17;
    hash ^= hash << 5;
    return (hash >>> 8) & 0xff;
  });
}

/** The constant tables of one die; nothing here changes after construction. */
export class DieIdentity {
  /** READ ID 90h-00h, 8 bytes. */
  readonly idBytes: Uint8Array;
  /** One copy of the parameter page. */
  readonly parameterPage: Uint8Array;
  /** One copy of the unique id: 16 bytes and their complement. */
  readonly uniqueRecord: Uint8Array;

  constructor(part: NandPart, serialNumber: string) {
    this.idBytes = Uint8Array.from(part.idBytes);
    this.parameterPage = parameterPageOf(part);
    this.uniqueRecord = new Uint8Array(UNIQUE_RECORD_BYTES);
    uniqueIdOf(serialNumber).forEach((byte, i) => {
      this.uniqueRecord[i] = byte;
      this.uniqueRecord[UNIQUE_ID_BYTES + i] = byte ^ 0xff;
    });
  }
}
