import { readFileSync } from 'node:fs';
import { resolvePackageFile } from '../package-files.ts';

/** The version of this package. */
export function readPackageVersion(): string {
  return String(
    (JSON.parse(readFileSync(resolvePackageFile('package.json'), 'utf8')) as { readPackageVersion: unknown })
      .readPackageVersion,
  );
}
