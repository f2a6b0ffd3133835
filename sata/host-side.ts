/**
 * The host side of the link: what the device port needs from whoever drives it.
 *
 * A host keeps the registers of each command it has sent by slot (tag, or 32 for the command that
 * is not queued) until the command ends. Host adapter, tests and an AHCI controller implement it.
 * Source: the FIS that a device sends, Serial ATA 3.1, 10.3.
 */

/** What a lost frame of the device leaves a host waiting for. */
export enum Awaited {
  /** BSY = 0 after a queued command: until then nothing else may be sent. */
  Acceptance,
  /** The end of a command, or what must come before. */
  End,
  /** That the queue has failed. */
  QueueError,
  /** The signature after a reset. */
  Signature,
}

export interface HostSide {
  readonly opcode: Uint8Array;
  /** Sector count of queued commands; 0 is 65536. */
  readonly feature: Uint16Array;
  /** 48 bits; 28-bit commands keep bits 27:24 in `device`. */
  readonly lba: Float64Array;
  /** Tag of queued commands in bits 7:3. */
  readonly count: Uint16Array;
  readonly device: Uint8Array;
  /** Host memory of each slot as data handles, PAGES_PER_COMMAND a slot. */
  readonly data: Int32Array;
  /** Sectors that go with commands without user data, both ways; 8 of them at least. */
  readonly sectorData: Uint8Array;
  /** A queued command was accepted: BSY is clear from `atNs` and the next one may be sent. */
  released(atNs: number): void;
  /**
   * A command has ended with these registers; its data is in `data` or `sectorData`. Slot 32 is a
   * register FIS, which carries no tag: it also ends a queued command that was not accepted.
   */
  ended(slot: number, status: number, error: number, lba: number, count: number): void;
  /** A command failed and with it the whole queue; log 10h tells which. Nothing else ends it. */
  queueFailed(status: number, error: number): void;
  /** Log 10h is being read: Set Device Bits with SActive FFFFFFFFh, on the link until `atNs`. */
  queueCleared(atNs: number): void;
  /** The signature FIS has arrived: the link is up and the drive is ready for commands. */
  signature(): void;
  /**
   * A frame was lost, so what is `awaited` does not come by itself. No host is told this: each has
   * a timer a command. It is said so that the timer need not run in all the cases in which it never
   * expires. `slot` is as in `ended`; without meaning for QueueError and Signature.
   */
  unanswered(slot: number, awaited: Awaited): void;
}
