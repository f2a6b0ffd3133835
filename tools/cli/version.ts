/** Which release this is. */
import { createRequire } from 'node:module';

/** The version in package.json, found by the package's own name from source and from dist alike. */
export function packageVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('barefoot3/package.json');
  const holdsVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return holdsVersion ? String(manifest.version) : 'unknown';
}
