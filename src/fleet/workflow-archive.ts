import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { CalledWorkflow } from '../core/named-workflows.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { syncFolder } from '../store/files.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { WorkflowMember } from '../workflow/workflow-set.ts';

/*
 * A run in the database has its workflow with it, as it was when the run started, with all that it calls. They keep their places
 * to each other, so that paths in tags lead to the same workflows wherever the archive is unpacked.
 */

/** A workflow, packed. */
export interface PackedWorkflow {
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

/** Packs a workflow with all workflows that it calls. */
export async function packWorkflow(workflow: Workflow): Promise<PackedWorkflow> {
  const members = workflow.members();
  // A folder keeps its name, after which the workflow may be called.
  const base = commonFolder(members.map(({ location: { root } }) => dirname(root)));
  const files: PackedFile[] = [];
  for (const member of members) files.push(...(await readMember(member, base)));
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const text = JSON.stringify({ format: FORMAT, files });
  const hash = createHash('sha256').update(text).digest('hex');
  return { hash, archive: gzipSync(text), path: toArchivePath(relative(base, workflow.path)) };
}

const FORMAT = 1;

/** The files of a folder one by one; a zip and a one-file workflow are one file. */
async function readMember({ location, files }: WorkflowMember, base: string): Promise<readonly PackedFile[]> {
  const pack = (path: string, { bytes, executable }: { bytes: Uint8Array; executable: boolean }): PackedFile => ({
    path: toArchivePath(relative(base, path)),
    executable,
    content: Buffer.from(bytes).toString('base64'),
  });
  if (location.kind !== 'folder') {
    const { readFile } = await import('node:fs/promises');
    return [pack(location.root, { bytes: await readFile(location.root), executable: false })];
  }
  const names = await files.list();
  return Promise.all(names.map(async (name) => pack(join(location.root, name), await files.read(name))));
}

const toArchivePath = (path: string): string => path.split(sep).join(posix.sep);

/** The deepest folder that holds all of these. */
function commonFolder(folders: readonly string[]): string {
  const [first = '', ...others] = folders;
  const parts = first.split(sep);
  const shared = parts.findIndex((part, at) => others.some((other) => other.split(sep)[at] !== part));
  return shared === -1 ? first : parts.slice(0, shared).join(sep) || sep;
}

/** Unpacks a workflow into a folder of its hash, unless it is there; returns the path of the workflow in it. */
export async function unpackWorkflow(
  folder: string,
  hash: string,
  path: string,
  fetchArchive: () => Promise<Buffer>,
): Promise<string> {
  const target = join(folder, hash);
  if (!existsSync(target)) {
    const { format, files } = JSON.parse(gunzipSync(await fetchArchive()).toString('utf8')) as {
      readonly format: number;
      readonly files: readonly PackedFile[];
    };
    if (format !== FORMAT) throw unknownFormatError(format);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Each of several runs that begin at the same time fills a folder of its own; the first one counts.
    const temporary = mkdtempSync(`${target}.`);
    for (const { path: file, executable, content } of files) {
      const place = join(temporary, file);
      if (relative(temporary, place).startsWith('..')) throw unknownFormatError(format);
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
      await writeFile(place, Buffer.from(content, 'base64'), {
        mode: executable ? 0o700 : 0o600,
        flush: true,
      });
    }
    moveInPlace(temporary, target);
    await syncFolder(folder);
  }
  return join(target, path);
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
