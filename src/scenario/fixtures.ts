import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';

/** A folder whose files are copied for a scenario. */
export interface Fixtures {
  readonly folder: string;
  /** All that is in it, seen from there; what ends in `/` is a folder. */
  readonly names: readonly string[];
}

/** As much as a zip may hold: every scenario has a copy of its own. */
const MOST_NAMES = 10_000;
const MOST_BYTES = 64 * 2 ** 20;

/** Looks through a folder of fixtures; gives back why it cannot be copied. */
export function fixturesIn(folder: string): Fixtures | string {
  const names: string[] = [];
  let bytes = 0;
  const faultOf = (name: string, entry: Dirent): string | undefined => {
    if (entry.isDirectory()) return walk(`${name}/`);
    // A link could lead to anything on this machine.
    if (!entry.isFile()) return `\`${name}\` is a link or the like: put a file there`;
    names.push(name);
    bytes += statSync(join(folder, name)).size;
    return undefined;
  };
  const walk = (within: string): string | undefined => {
    if (within !== '') names.push(within);
    const entries = readdirSync(join(folder, within), { withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    for (const entry of entries.filter(({ name }) => within !== '' || name !== OWN)) {
      const fault = faultOf(`${within}${entry.name}`, entry);
      if (fault !== undefined) return fault;
      if (names.length > MOST_NAMES) return `it holds more than ${MOST_NAMES} files`;
      if (bytes > MOST_BYTES) return `it holds more than ${MOST_BYTES / 2 ** 20} MB`;
    }
    return undefined;
  };
  try {
    return walk('') ?? { folder, names };
  } catch (error) {
    return WORDS[codeOf(error)] ?? `it cannot be read (${codeOf(error)})`;
  }
}

const WORDS: Readonly<Record<string, string>> = { ENOENT: 'there is no such folder', ENOTDIR: 'it is no folder' };

/** Raymond's own folder: a scenario has one already. */
const OWN = '.raymond';
