/**
 * The host side of the link: what the device port needs from whoever drives it.
 *
 * A host keeps the registers of each command it has sent by slot (tag, or 32 for the command that is
 * not queued) until the command ends. Host adapter, tests and an AHCI controller implement it.
 */

export interface HostSide {
  readonly opcode: Uint8Array;
  readonly feature: Uint16Array;
  readonly lba: Float64Array;
  readonly count: Uint16Array;
  readonly device: Uint8Array;
  /** Host memory of each slot as data handles, PAGES_PER_COMMAND a slot. */
  readonly data: Int32Array;
  /** Sectors that go with commands without user data, both ways. */
  readonly sectorData: Uint8Array;
  /** BSY is clear again from `atNs`: the next command may be sent. */
  released(atNs: number): void;
  /** A command has ended with these registers; its data is in `data` or `sectorData`. */
  ended(slot: number, status: number, error: number, lba: number, count: number): void;
  /** A queued command failed and with it the whole queue: SET DEVICE BITS with ERR. */
  queueFailed(status: number, error: number): void;
  /** The signature FIS has arrived: the link is up and the drive is ready for commands. */
  signature(): void;
}
