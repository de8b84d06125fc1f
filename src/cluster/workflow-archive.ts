import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { syncFolder } from '../disk/files.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { CalledWorkflow } from '../language/named-workflows.ts';
import { noSuchRunError } from '../storage/opened-run.ts';
import type { Database } from '../storage/postgres/database.ts';
import { parseRow } from '../storage/postgres/parse-row.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { FileContent } from '../workflow/workflow-files.ts';
import type { WorkflowMember } from '../workflow/workflow-set.ts';

/*
 * A run in the database has its workflow with it, as it was when the run started, with all that it calls. They keep their places
 * to each other, so that paths in tags lead to the same workflows wherever the archive is unpacked.
 */

/** A workflow, packed. */
interface PackedWorkflow {
  readonly hash: string;
  readonly archive: Buffer;
  /** Where the workflow is in the archive. */
  readonly path: string;
}

interface PackedFile {
  readonly path: string;
  readonly executable: boolean;
  readonly content: string;
}

/** The folder in an archive with the workflows that come from the web. */
export const FETCHED = '.fetched';

/** Packs a workflow with all workflows that it calls. */
export async function packWorkflow(workflow: Workflow): Promise<PackedWorkflow> {
  const members = workflow.members();
  // A folder keeps its name, after which the workflow may be called.
  const base = commonFolder(
    members.filter(({ isFetched }) => !isFetched).map(({ location: { root } }) => dirname(root)),
  );
  const files: PackedFile[] = [];
  for (const member of members) files.push(...(await readMember(member, base)));
  const text = formatArchive(files);
  return { hash: hashOf(text), archive: gzipSync(text), path: toArchivePath(relative(base, workflow.path)) };
}

const FORMAT = 1;

const formatArchive = (files: readonly PackedFile[]): string =>
  JSON.stringify({ format: FORMAT, files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) });

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The files of a folder one by one; a zip and a one-file workflow are one file. */
async function readMember(
  { location, files, isFetched }: WorkflowMember,
  base: string,
): Promise<readonly PackedFile[]> {
  if (location.kind !== 'folder') {
    const { readFile } = await import('node:fs/promises');
    const content = { bytes: await readFile(location.root), executable: false };
    const packed = packFile(base, location.root, content);
    return [isFetched ? { ...packed, path: posix.join(FETCHED, basename(location.root)) } : packed];
  }
  const names = await files.list();
  return Promise.all(names.map(async (name) => packFile(base, join(location.root, name), await files.read(name))));
}

const packFile = (base: string, path: string, { bytes, executable }: FileContent): PackedFile => ({
  path: toArchivePath(relative(base, path)),
  executable,
  content: Buffer.from(bytes).toString('base64'),
});

const toArchivePath = (path: string): string => path.split(sep).join(posix.sep);

/** The deepest folder that holds all of these. */
function commonFolder(folders: readonly string[]): string {
  const [first = '', ...others] = folders;
  const parts = first.split(sep);
  const shared = parts.findIndex((part, at) => others.some((other) => other.split(sep)[at] !== part));
  return shared === -1 ? first : parts.slice(0, shared).join(sep) || sep;
}

/**
 * Unpacks a workflow into a folder of its hash, and returns the path of the workflow in it. What is there already is compared with
 * the hash, and put back as it was: turns of other runs may have changed it.
 */
export async function unpackWorkflow(
  folder: string,
  hash: string,
  path: string,
  fetchArchive: () => Promise<Buffer>,
): Promise<string> {
  const target = join(folder, hash);
  const isThere = existsSync(target);
  if (isThere && hashOf(formatArchive(readUnpacked(target))) === hash) return join(target, path);
  const files = readArchive(await fetchArchive(), hash);
  if (isThere) {
    const known = new Set(files.map((file) => file.path));
    for (const file of readUnpacked(target)) if (!known.has(file.path)) rmSync(join(target, file.path));
    await writeFiles(target, files);
    return join(target, path);
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Each of several runs that begin at the same time fills a folder of its own; the first one counts.
  const temporary = mkdtempSync(`${target}.`);
  await writeFiles(temporary, files);
  moveInPlace(temporary, target);
  await syncFolder(folder);
  return join(target, path);
}

const ARCHIVE = z.looseObject({ format: z.int(), files: z.unknown() });
const FILES = z.array(z.strictObject({ path: z.string(), executable: z.boolean(), content: z.base64() }));

function readArchive(archive: Buffer, hash: string): readonly PackedFile[] {
  const row = `The workflow ${hash} in raymond.blobs`;
  const text = gunzipSync(archive).toString('utf8');
  const { format } = parseRow(ARCHIVE, text, row);
  if (format !== FORMAT) throw unknownFormatError(format);
  return parseRow(ARCHIVE.extend({ files: FILES }), text, row).files;
}

async function writeFiles(folder: string, files: readonly PackedFile[]): Promise<void> {
  for (const { path, executable, content } of files) {
    const place = join(folder, path);
    if (relative(folder, place).startsWith('..')) throw unknownFormatError(FORMAT);
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    // A script may be running: it is replaced as a whole.
    const mode = executable ? 0o700 : 0o600;
    rmSync(`${place}.new`, { force: true });
    await writeFile(`${place}.new`, Buffer.from(content, 'base64'), { mode, flush: true });
    renameSync(`${place}.new`, place);
  }
}

/** The files of an unpacked workflow as they are now. */
function readUnpacked(folder: string): readonly PackedFile[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const stats = lstatSync(path);
      const bytes = stats.isFile() ? readFileSync(path) : Buffer.from('not a file');
      return packFile(folder, path, { bytes, executable: (stats.mode & 0o100) !== 0 });
    });
}

/** Another run of the same worker may have been faster. */
function moveInPlace(temporary: string, target: string): void {
  try {
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
}

const unknownFormatError = (format: number): RaymondError =>
  new RaymondError(`The workflow in the database has the format ${format}, which this Raymond cannot unpack.`, {
    exitCode: EXIT.invalid,
    hint: 'Use the Raymond that started the run.',
  });

/** The called workflows that a run knows, where they are on this worker: another one may have entered them. */
export function relocateWorkflows(
  workflows: Readonly<Record<string, CalledWorkflow>>,
  folder: string,
  hash: string,
): Readonly<Record<string, CalledWorkflow>> {
  const marker = `${sep}${hash}${sep}`;
  return Object.fromEntries(
    Object.entries(workflows).map(([name, called]) => {
      const at = called.path.indexOf(marker);
      if (at === -1) return [name, called];
      return [name, { ...called, path: join(folder, hash, called.path.slice(at + marker.length)) }];
    }),
  );
}

/** Puts the workflows of runs where they can be read, in a folder that is removed at the end. */
export class UnpackedWorkflows {
  private readonly database: Database;
  private root: string | undefined;

  constructor(database: Database) {
    this.database = database;
  }

  /** Unpacks the workflow of a run, as it was when the run started. */
  async find(run: string): Promise<{ readonly path: string; readonly root: string }> {
    const [row] = await this.database.query<{ hash: string; path: string; archive: Buffer }>(
      `select workflow as hash, workflow_path as path, bytes as archive from raymond.runs
       join raymond.blobs on key = 'workflow/' || workflow where id = $1`,
      [run],
    );
    if (row === undefined) throw noSuchRunError(run);
    this.root ??= mkdtempSync(join(tmpdir(), 'raymond-workflows-'));
    const path = await unpackWorkflow(this.root, row.hash, row.path, async () => row.archive);
    return { path, root: join(this.root, row.hash) };
  }

  close(): void {
    if (this.root !== undefined) rmSync(this.root, { recursive: true, force: true });
  }
}
