import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import type { TurnName } from '../core/due.ts';
import { stem } from '../core/names.ts';

/** Where everything lies that Raymond keeps on disk. Only paths: nothing is made or looked at. */
export interface Layout {
  readonly root: string;
  readonly config: string;
  readonly states: string;
  readonly debugs: string;
  state(run: string): string;
  run(run: string): string;
  journal(run: string): string;
  turns(run: string): string;
  turn(run: string, turn: TurnName): string;
  debug(run: string, startedAtMs: number): string;
}

/** The layout of a `.raymond` folder. */
export function layoutOf(root: string): Layout {
  // Names are put together as they are: `join` looks at every letter, and a turn asks for its folder again and again.
  const runs = join(root, 'runs');
  const run = (id: string): string => `${runs}${sep}${id}`;
  const turns = (id: string): string => `${run(id)}${sep}turns`;
  return {
    root,
    config: join(root, 'config.toml'),
    states: join(root, 'state'),
    debugs: join(root, 'debug'),
    state: (id) => join(root, 'state', `${id}.json`),
    run,
    journal: (id) => `${run(id)}${sep}journal.jsonl`,
    turns,
    turn: (id, turn) => `${turns(id)}${sep}${turnFolderName(turn)}`,
    debug: (id, startedAtMs) => join(root, 'debug', `${id}_${localStamp(startedAtMs)}`),
  };
}

/**
 * The `.raymond` folder of whoever works in `cwd`: the nearest one up to the git root. If there is none, the place
 * where it is to be made: the git root, else `cwd` itself. Outside a repository someone else's folder further up, say
 * in /tmp, is passed by: it could hold settings that the user never made.
 */
export function findRaymondFolder(cwd: string): string {
  const start = resolve(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    const found = join(folder, '.raymond');
    const stats = look(found);
    if (stats?.isDirectory() && (folder === start || isOurs(stats.uid))) return found;
    if (look(join(folder, '.git')) !== undefined) return found;
    if (folder === dirname(folder)) return join(start, '.raymond');
  }
}

/** What lies at a path; undefined also where we may not look. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const isOurs = (uid: number): boolean => process.getuid === undefined || process.getuid() === uid;

const turnFolderName = ({ number, agent, state }: TurnName): string =>
  `${String(number).padStart(4, '0')}-${safe(agent)}-${safe(stem(state))}`;

const LONGEST = 60;
/** What nearly every name is like. */
const PLAIN = /^[\w.-]{1,60}$/;

/** A name as part of a file name. What is too long is told apart by its hash: two agents never share a folder. */
function safe(name: string): string {
  if (PLAIN.test(name)) return name;
  const plain = name.replace(/[^\p{L}\p{N}._-]/gu, '-');
  if (Buffer.byteLength(plain) <= LONGEST) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  const head = [...plain].slice(0, 16).join('');
  return `${head}~${hash}`;
}

/** `YYYYMMDD_HHMMSS` as the user's clock shows it. */
function localStamp(atMs: number): string {
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  return `${day}_${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
}
