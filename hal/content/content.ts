/**
 * Content: what the 4 KiB pages of the machine hold, as small integers (data handles).
 *
 * 0 is a page of zeros. A positive handle is a tag: it names a page's content without storing it.
 * Negative handles are counted: pages that need storage, freed when nothing refers to them. Handles
 * travel through link, DRAM buffers and flash; only host, store and dump look inside.
 */

import type { DramTable } from '../dram-table.ts';
import type { ContentPort, TablePort } from '../ports.ts';
import type { Machine, Saveable } from '../sim/snapshot.ts';
import { isMetadata, type MetadataPages } from './metadata-pages.ts';

/** A store of page contents: tags (tagged-content.ts) or real bytes (byte-content.ts). */
export interface Content extends ContentPort, Saveable {
  /** True when pages hold real bytes. */
  readonly holdsBytes: boolean;
  readonly metadata: MetadataPages;
  /** What identifies one sector of a page: its tag, or a hash of its bytes; 0 for zeros. */
  sectorTag(content: number, sector: number): number;
  /** The 4096 bytes of a page; tagged pages are made up of their tags, the same each time. */
  bytesOf(content: number): Uint8Array;
  /**
   * After a loss of power: `flash` lists the counted handle of every slot that has one (a handle as
   * often as it occurs); all other references are gone.
   */
  sweep(flash: readonly number[]): void;
  /** A store with the same handles that shares nothing which changes. */
  fork(machine: Machine): Content;
}

/** The metadata half of a content store, the same for tags and bytes. */
export abstract class ContentBase {
  abstract readonly metadata: MetadataPages;

  write(bytes: Uint8Array): number {
    return this.metadata.write(bytes);
  }

  read(content: number): Uint8Array | null {
    return isMetadata(content) ? this.metadata.read(content) : null;
  }

  lend(table: TablePort, first: number): number {
    return this.metadata.lend(table as DramTable, first);
  }

  load(content: number, table: TablePort, first: number): boolean {
    if (!isMetadata(content)) return false;
    this.metadata.load(content, table as DramTable, first);
    return true;
  }
}
