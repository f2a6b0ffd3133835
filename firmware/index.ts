/**
 * The library: a drive to create, drive, stop, cut and look into.
 */

export { AtaError, AtaOpcode, AtaStatus } from '../hal/ata.ts';
export { ByteContent, type PageBacking } from '../hal/content/byte-content.ts';
export type { DriveProfile } from '../hal/profile.ts';
export { History } from '../hal/sim/history.ts';
export { ProbeKind, type ProbeListener } from '../hal/sim/probe.ts';
export { DiePhase } from '../nand/die-table.ts';
export type { CommandResult, QueuedCommand } from '../sata/host/command-queue.ts';
export { Drive, type DriveOptions, ImpossibleProfile, NandImage } from './drive.ts';
export { DriveStopped, Host } from './host.ts';
export { PROFILES, profileById } from './profiles/index.ts';
