import { isUtf8 } from 'node:buffer';
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { WorkflowSourceFile } from '../graph/workflow-source.ts';
import { isStateFile, type Platform, resolveEntry } from '../language/state-names.ts';
import type { TextPosition } from '../language/text/text.ts';
import { quoteInMessage } from '../yaml/finding-report.ts';
import { unreadableWorkflowFile } from './invalid-workflow.ts';
import type { ParsedManifest } from './manifest.ts';

/** The content of a file of a workflow, and whether it can be run as a program. */
export interface FileContent {
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/**
 * The files of a workflow; only the code that makes one knows whether it is a folder or a zip.
 * Listing or reading throws InvalidWorkflow if it fails.
 */
export interface WorkflowFiles {
  /** The name for messages. */
  readonly name: string;
  /** Lists the names of its files as they are now, sorted; no folders, no dot files. */
  list(): Promise<readonly string[]>;
  /** Reads a file as it is now. */
  read(file: string): Promise<FileContent>;
  /** The path of a file on disk; null if it is inside a zip or a one-file workflow. */
  pathOf(file: string): string | null;
  /** Explains why a file may not be used, whatever it holds; undefined if it may. */
  problemOf(file: string): string | undefined;
  /** How manifest and states are read, if all of them stand in one file. */
  readonly oneFile?: {
    readManifest(): Promise<ParsedManifest>;
    parseState(file: string, platform: Platform): Promise<WorkflowSourceFile>;
  };
}

/** The kind of folder: only a workflow, or other files next to a state that the user named. */
type FolderContents = 'workflow' | 'states and others';

/**
 * Opens a folder as the files of a workflow. Before each turn they are listed and one is read, so that changes take
 * effect at once; done synchronously, that takes a tenth of the time that the thread pool needs.
 */
export function openWorkflowFolder(path: string, contents: FolderContents = 'workflow'): WorkflowFiles {
  const name = basename(path) || path;
  // A workflow has many files, and `join` takes longer than looking at one.
  const prefix = path.endsWith(sep) ? path : path + sep;
  const pathOf = (file: string): string => prefix + file;
  const isListed = (entry: Dirent): boolean => {
    if (!entry.isSymbolicLink()) return entry.isFile();
    const leadsOut =
      (contents === 'workflow' || isStateFile(entry.name)) && findOutsideTarget(path, entry.name) !== null;
    // Listed, whatever it leads to, so that it is reported.
    return leadsOut || isFile(pathOf(entry.name));
  };
  return {
    name,
    pathOf,
    problemOf(file) {
      if (!isLink(pathOf(file))) return undefined;
      const target = findOutsideTarget(path, file);
      return target === null
        ? undefined
        : `it is a link that leads out of the workflow, to ${quoteInMessage(target)}: put the file itself here`;
    },
    async list() {
      try {
        return readdirSync(path, { withFileTypes: true })
          .filter((entry) => !entry.name.startsWith('.') && isListed(entry))
          .map((entry) => entry.name)
          .sort();
      } catch (error) {
        throw unreadableWorkflowFile(name, error);
      }
    },
    async read(file) {
      try {
        return { bytes: readFileSync(pathOf(file)), executable: (statSync(pathOf(file)).mode & 0o111) !== 0 };
      } catch (error) {
        throw unreadableWorkflowFile(file, error);
      }
    },
  };
}

/** True if a path leads to a file. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/** The target of a link that leads out of the folder it is in, resolved as far as it exists; null if it stays inside. */
function findOutsideTarget(folder: string, link: string): string | null {
  try {
    const root = realpathSync(folder);
    const target = resolveLink(join(root, link));
    return target.startsWith(root.endsWith(sep) ? root : root + sep) ? null : target;
  } catch {
    // It was removed meanwhile; reading it reports that.
    return null;
  }
}

function resolveLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(dirname(path), readlinkSync(path));
  }
}

const MAX_SUBFOLDERS = 100;

/** Finds start states in the folders directly below this one: the user may have meant one of those. */
export function findEntriesInSubfolders(path: string, platform: Platform): readonly string[] {
  const folders = listVisibleNames(path, true).slice(0, MAX_SUBFOLDERS);
  return folders.flatMap((folder) => {
    const entry = resolveEntry({ files: listVisibleNames(join(path, folder), false), platform });
    return entry.kind === 'found' ? `${folder}/${entry.file}` : [];
  });
}

function listVisibleNames(path: string, folders: boolean): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.name.startsWith('.') && entry.isDirectory() === folders)
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

/** The text of a file, or the reason and the position at which it is not text. */
type DecodedStateText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'not-text'; readonly at: TextPosition; readonly message: string };

/**
 * Decodes the file of a state. A byte order mark is kept, because some shells need it. A NUL is refused in a prompt,
 * where it means that the file is not text; in a script it is left to the shell.
 */
export function decodeText(bytes: Uint8Array, kind: 'prompt' | 'script'): DecodedStateText {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const byteOrderMark = buffer.subarray(0, 2).toString('hex').toUpperCase();
  if (byteOrderMark === 'FFFE' || byteOrderMark === 'FEFF') {
    const message = `this is UTF-16 text (it begins with the bytes ${byteOrderMark.slice(0, 2)} ${byteOrderMark.slice(2)}): save it as UTF-8`;
    return { kind: 'not-text', at: { line: 1, column: 1 }, message };
  }
  const text = buffer.toString('utf8');
  if (!isUtf8(buffer)) {
    const offset = findInvalidByte(buffer, text);
    const byte = buffer
      .subarray(offset, offset + 1)
      .toString('hex')
      .toUpperCase();
    const message = `this is not UTF-8 text: it has the byte 0x${byte} at offset ${offset}; save the file as UTF-8`;
    return { kind: 'not-text', at: positionAtByte(buffer, offset), message };
  }
  const nulOffset = kind === 'prompt' ? buffer.indexOf(0) : -1;
  if (nulOffset === -1) return { kind: 'text', text };
  const message = `a prompt is text, but this has a NUL byte (0x00) at offset ${nulOffset}: remove it, or save the file as UTF-8`;
  return { kind: 'not-text', at: positionAtByte(buffer, nulOffset), message };
}

/** Finds the first byte that is not UTF-8: up to the first replacement character that is not in the file, text and bytes agree. */
function findInvalidByte(bytes: Buffer, text: string): number {
  let offset = 0;
  let from = 0;
  for (let found = text.indexOf('\uFFFD'); found !== -1; found = text.indexOf('\uFFFD', from)) {
    offset += Buffer.byteLength(text.slice(from, found));
    if (bytes.subarray(offset, offset + 3).toString('hex') !== 'efbfbd') return offset;
    offset += 3;
    from = found + 1;
  }
  return offset;
}

function positionAtByte(bytes: Buffer, offset: number): TextPosition {
  const before = bytes.subarray(0, offset).toString('utf8');
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
}

/** Maps items like `Promise.all`, with at most `limit` calls under way at once. Results keep the order of the items. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  act: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const remaining = items.entries();
  const workers = Array.from({ length: Math.min(limit, items.length) }, async () => {
    for (const [index, item] of remaining) results[index] = await act(item);
  });
  await Promise.all(workers);
  return results;
}
