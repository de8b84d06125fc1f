import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../errors.ts';

/** A folder whose files are copied for a scenario. */
export interface Fixtures {
  readonly folder: string;
  /** All that is in it, seen from there; what ends in `/` is a folder. */
  readonly names: readonly string[];
}

/** As much as a zip may hold: every scenario has a copy of its own. */
const MAX_FIXTURE_FILES = 10_000;
const MAX_FIXTURE_BYTES = 64 * 2 ** 20;

/** Looks through a folder of fixtures; gives back why it cannot be copied. */
export function listFixtures(folder: string): Fixtures | string {
  const names: string[] = [];
  let bytes = 0;
  const addEntry = (name: string, entry: Dirent): string | undefined => {
    if (entry.isDirectory()) return walkFolder(`${name}/`);
    // A link could lead to anything on this machine.
    if (!entry.isFile()) return `\`${name}\` is a link or the like: put a file there`;
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
      if (names.length > MAX_FIXTURE_FILES) return `it holds more than ${MAX_FIXTURE_FILES} files`;
      if (bytes > MAX_FIXTURE_BYTES) return `it holds more than ${MAX_FIXTURE_BYTES / 2 ** 20} MB`;
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
  ENOTDIR: 'it is no folder',
};

/** Raymond's own folder: a scenario has one already. */
const RAYMOND_FOLDER = '.raymond';
