import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { TurnRef } from '../core/due.ts';
import { turnFiles } from '../process/turn-files.ts';
import { noSuchRunError } from '../store/load.ts';
import type { Database } from './database.ts';
import { unpackWorkflow } from './workflow-archive.ts';

/*
 * What a turn was asked and what it said is in files of its worker. When it has ended, a copy goes into the database, so that the
 * log of a run can be read from anywhere.
 */

const FILES = ['stdin', 'stdout', 'stderr'] as const;
const MAX_FILE_BYTES = 4 << 20;

/** Stores the files of a turn that has ended. */
export async function insertTurnFiles(database: Database, run: string, turn: TurnRef, folder: string): Promise<void> {
  const paths = turnFiles(folder);
  const contents: Record<string, string> = {};
  for (const file of FILES) {
    const bytes = await readFile(paths[file]).catch(() => null);
    if (bytes !== null) contents[file] = shorten(bytes).toString('base64');
  }
  if (Object.keys(contents).length === 0) return;
  await database.query(
    `insert into raymond.turns (run, agent, number, files) values ($1, $2, $3, $4)
     on conflict (run, agent, number) do update set files = $4`,
    [run, turn.agent, turn.number, gzipSync(JSON.stringify(contents))],
  );
}

/** The beginning and the end of a file that is too long, in whole lines. */
function shorten(bytes: Buffer): Buffer {
  if (bytes.length <= MAX_FILE_BYTES) return bytes;
  const half = MAX_FILE_BYTES / 2;
  const head = bytes.subarray(0, bytes.lastIndexOf(LINE_FEED, half) + 1);
  return Buffer.concat([head, bytes.subarray(bytes.indexOf(LINE_FEED, bytes.length - half) + 1)]);
}

const LINE_FEED = 0x0a;

/** Puts the files of turns where they can be read as on the worker, in a folder that is removed at the end. */
export class TurnFilesCache {
  private readonly database: Database;
  private root: string | undefined;

  constructor(database: Database) {
    this.database = database;
  }

  /** The folder of a turn; it does not exist if the database has no files of the turn. */
  async folderOf(run: string, { agent, number }: Pick<TurnRef, 'agent' | 'number'>): Promise<string> {
    const key = createHash('sha256').update(`${run}/${agent}`).digest('hex');
    const folder = join(this.makeRoot(), `${number}-${key}`);
    if (existsSync(folder)) return folder;
    const [row] = await this.database.query<{ files: Buffer }>(
      'select files from raymond.turns where run = $1 and agent = $2 and number = $3',
      [run, agent, number],
    );
    if (row === undefined) return folder;
    mkdirSync(folder, { mode: 0o700 });
    const contents: Record<string, string> = JSON.parse(gunzipSync(row.files).toString('utf8'));
    for (const file of FILES) {
      const content = contents[file];
      if (content !== undefined) writeFileSync(join(folder, file), Buffer.from(content, 'base64'), { mode: 0o600 });
    }
    return folder;
  }

  /** Unpacks the workflow of a run, as it was when the run started. */
  async unpackWorkflowOf(run: string): Promise<{ readonly path: string; readonly root: string }> {
    const [row] = await this.database.query<{ hash: string; path: string; archive: Buffer }>(
      'select hash, workflow_path as path, archive from raymond.runs join raymond.workflows on hash = workflow where id = $1',
      [run],
    );
    if (row === undefined) throw noSuchRunError(run);
    const folder = join(this.makeRoot(), 'workflows');
    const path = await unpackWorkflow(folder, row.hash, row.path, async () => row.archive);
    return { path, root: join(folder, row.hash) };
  }

  private makeRoot(): string {
    this.root ??= mkdtempSync(join(tmpdir(), 'raymond-turns-'));
    return this.root;
  }

  close(): void {
    if (this.root !== undefined) rmSync(this.root, { recursive: true, force: true });
  }
}
