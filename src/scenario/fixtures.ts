import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../errors.ts';

/** A folder whose files are copied for each run of a scenario. */
export interface Fixtures {
  readonly folder: string;
  /** The paths of everything in it, relative to it; folders end in `/`. */
  readonly names: readonly string[];
}

/** The limits of a zip: every scenario gets its own copy. */
const MAX_FIXTURE_FILES = 10_000;
const MAX_FIXTURE_BYTES = 64 * 2 ** 20;

/** Lists a folder of fixtures, or returns the reason why it cannot be copied. */
export function listFixtures(folder: string): Fixtures | string {
  const names: string[] = [];
  let bytes = 0;
  const addEntry = (name: string, entry: Dirent): string | undefined => {
    if (entry.isDirectory()) return walkFolder(`${name}/`);
    // A link could point to anything on this machine.
    if (!entry.isFile()) return `\`${name}\` is a link or a special file: put a regular file there`;
    names.push(name);
    bytes += statSync(join(folder, name)).size;
    return undefined;
  };
  const walkFolder = (prefix: string): string | undefined => {
    if (prefix !== '') names.push(prefix);
    const entries = readdirSync(join(folder, prefix), { withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    for (const entry of entries.filter(({ name }) => prefix !== '' || name !== RAYMOND_FOLDER)) {
      const problem = addEntry(`${prefix}${entry.name}`, entry);
      if (problem !== undefined) return problem;
      if (names.length > MAX_FIXTURE_FILES) return `it contains more than ${MAX_FIXTURE_FILES} files`;
      if (bytes > MAX_FIXTURE_BYTES) return `it contains more than ${MAX_FIXTURE_BYTES / 2 ** 20} MB`;
    }
    return undefined;
  };
  try {
    return walkFolder('') ?? { folder, names };
  } catch (error) {
    return ERROR_MESSAGES[errorCodeOf(error)] ?? `it cannot be read (${errorCodeOf(error)})`;
  }
}

const ERROR_MESSAGES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is not a folder',
};

/** Raymond's own folder, which is never a fixture. */
const RAYMOND_FOLDER = '.raymond';
