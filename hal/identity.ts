/**
 * Identity: what tells one drive from another, and the capacities that drives are sold with.
 */

/** What identifies one drive; a profile holds it. */
export interface DriveIdentity {
  /** Up to 40 printable ASCII characters, e.g. "OCZ-VECTOR". */
  readonly model: string;
  /** Up to 8 printable ASCII characters, e.g. "3.0". */
  readonly firmware: string;
  /** Up to 20 printable ASCII characters. */
  readonly serial: string;
  /** World Wide Name: 16 hexadecimal digits, NAA 5 first, e.g. "5e83a97012345678". */
  readonly wwn: string;
  /** User capacity in sectors of 512 bytes. */
  readonly sectors: number;
}

/**
 * Sectors of a drive of `gigabytes` (10^9 bytes as printed on its label, 50 or more).
 * Source: IDEMA LBA1-03.
 */
export function idemaSectors(gigabytes: number): number {
  return 97_696_368 + 1_953_504 * (gigabytes - 50);
}
