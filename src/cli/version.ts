import { readFileSync } from 'node:fs';
import { shipped } from '../shipped.ts';

/** The version of this package. */
export function version(): string {
  return String((JSON.parse(readFileSync(shipped('package.json'), 'utf8')) as { version: unknown }).version);
}
