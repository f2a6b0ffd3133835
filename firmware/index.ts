/**
 * The library: a drive to create, drive, stop, cut and look into.
 */

export { Drive, type DriveOptions, ImpossibleProfile, NandImage } from './drive.ts';
export { PROFILES, profileById } from './profiles/index.ts';
