/**
 * The host side of the link: what the device port needs from whoever drives it.
 *
 * A host keeps the registers of each command it has sent by slot (tag, or 32 for the command that
 * is not queued) until the command ends. Host adapter, tests and an AHCI controller implement it.
 * Source: the FIS that a device sends, Serial ATA 3.1, 10.3.
 */

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
}
