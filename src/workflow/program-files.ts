import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { type CodeDigests, PACKAGE_FOLDERS } from '../language/pinned-code.ts';

/** The endings of files that hold text or data, or that editors and systems leave; these are no programs, whatever their mode is. */
const DATA_ENDINGS: ReadonlySet<string> = new Set(
  (
    'md txt json jsonl yaml yml toml ini csv tsv html css svg png jpg jpeg gif webp pdf zip gz log lock xml ' +
    'bak orig rej tmp swp swo swx out err pid db sqlite sqlite3 pyc ds_store gitignore gitattributes gitkeep'
  ).split(' '),
);
/** Files that programs take their commands from. */
const PROGRAM_NAMES: ReadonlySet<string> = new Set(['Makefile', 'makefile', 'GNUmakefile', 'Justfile', 'package.json']);

/** True if a file counts as code of its workflow. A script can source a file of any name, so only known data does not count. */
export function isProgram(name: string): boolean {
  if (PROGRAM_NAMES.has(name)) return true;
  return !name.endsWith('~') && !DATA_ENDINGS.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase());
}

const MAX_ENTRIES = 2_000;
/** Stands for what is beyond that. */
const TOO_MANY = './…';
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Two changes within this time may have the same time stamp. */
const STAMP_RESOLUTION_MS = 50;

/** A file or folder at the last look, and what was made of it. */
interface Seen<Content> {
  readonly path: string;
  readonly stats: Stats;
  /** True if a later change is sure to have another time stamp. */
  readonly isSettled: boolean;
  readonly content: Content;
}

/** Files, and folders to search, by their paths below a root. */
interface Listing {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** Decides which files below a root count, and where to look for them. */
export interface FileRule {
  readonly start: Listing;
  readonly counts: (name: string) => boolean;
}

const ALL_PROGRAMS: FileRule = { start: { files: [], folders: [''] }, counts: isProgram };

/**
 * The programs below a folder, or other files that count. They are looked at before each script runs: what has the time stamps,
 * size and inode of the last look is not read again.
 */
export class ProgramFiles {
  private readonly prefix: string;
  private readonly rule: FileRule;
  private listings = new Map<string, Seen<Listing>>();
  private files = new Map<string, Seen<string | null>>();
  private digests: CodeDigests | null = null;
  /** True if something named was not there at the last look: it may be there now without a trace in what was. */
  private hasGaps = false;

  constructor(root: string, rule = ALL_PROGRAMS) {
    this.prefix = root.endsWith(sep) ? root : root + sep;
    this.rule = rule;
  }

  /** The digests of all programs as they are now, by path with `./` before it; the same object as long as none has changed. */
  read(): CodeDigests {
    if (this.digests !== null && !this.hasGaps && isUnchanged(this.listings) && isUnchanged(this.files))
      return this.digests;
    this.digests = this.readAgain();
    return this.digests;
  }

  private readAgain(): CodeDigests {
    const before = { listings: this.listings, files: this.files };
    this.listings = new Map();
    this.files = new Map();
    this.hasGaps = false;
    const found: Record<string, string> = {};
    const { start, counts } = this.rule;
    const addFiles = (files: readonly string[]): void => {
      for (const file of files) {
        const digest = look(before.files, this.files, file, this.prefix + file, (path, stats) =>
          digestFile(path, stats, counts),
        );
        if (digest === undefined) this.hasGaps = true;
        if (digest != null) found[`./${file}`] = digest;
      }
    };
    addFiles(start.files);
    const folders = [...start.folders];
    let count = 0;
    for (const folder of folders) {
      const listing = look(before.listings, this.listings, folder, this.prefix + folder, (path) =>
        listFolder(path, folder === '' ? '' : `${folder}/`, counts),
      );
      if (listing === undefined) {
        this.hasGaps = true;
        continue;
      }
      folders.push(...listing.folders);
      count += listing.folders.length + listing.files.length;
      if (count > MAX_ENTRIES) return { ...found, [TOO_MANY]: 'too many' };
      addFiles(listing.files);
    }
    return found;
  }
}

/** True if these are all programs of a folder: one with very many files is not searched. */
export const isComplete = (digests: CodeDigests): boolean => !Object.hasOwn(digests, TOO_MANY);

function isUnchanged(seen: ReadonlyMap<string, Seen<unknown>>): boolean {
  for (const each of seen.values()) {
    if (!each.isSettled || !hasVersion(each.path, each.stats)) return false;
  }
  return true;
}

function hasVersion(path: string, stats: Stats): boolean {
  try {
    return isSameVersion(statSync(path), stats);
  } catch {
    return false;
  }
}

const isSameVersion = (a: Stats, b: Stats): boolean =>
  a.ctimeMs === b.ctimeMs &&
  a.mtimeMs === b.mtimeMs &&
  a.size === b.size &&
  a.ino === b.ino &&
  a.mode === b.mode &&
  a.dev === b.dev;

/** The cached value for a path, computed again if the file changed; undefined if it is gone. */
function look<Content>(
  before: ReadonlyMap<string, Seen<Content>>,
  now: Map<string, Seen<Content>>,
  key: string,
  path: string,
  make: (path: string, stats: Stats) => Content,
): Content | undefined {
  try {
    // Most of the settings that are looked for are in no folder: an exception for each would take longer than the look.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    const old = before.get(key);
    if (old?.isSettled && isSameVersion(stats, old.stats)) {
      now.set(key, old);
      return old.content;
    }
    const isSettled = Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > STAMP_RESOLUTION_MS;
    const content = make(path, stats);
    now.set(key, { path, stats, isSettled, content });
    return content;
  } catch {
    // It is gone, or may not be read: then it cannot be run either.
    return undefined;
  }
}

function digestFile(path: string, stats: Stats, counts: FileRule['counts']): string | null {
  const { size } = stats;
  if (!stats.isFile() || !counts(basename(path))) return null;
  return size > MAX_FILE_BYTES ? digestOf(`${size} bytes`) : digestOf(readFileSync(path));
}

/** The files of a folder that may be programs, and the folders in it. Links count as what they lead to. */
function listFolder(path: string, prefix: string, counts: FileRule['counts']): Listing {
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (isFolder(path, entry)) {
      if (!PACKAGE_FOLDERS.has(entry.name)) folders.push(prefix + entry.name);
    } else if (counts(entry.name)) files.push(prefix + entry.name);
  }
  return { files, folders };
}

function isFolder(path: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return statSync(join(path, entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Identifies a content: nobody finds another one with the same digest. */
export const digestOf = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 32);
