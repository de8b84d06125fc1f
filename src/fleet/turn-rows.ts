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
import { LIVE_FILES, type LiveFile, type TurnName } from './live-rows.ts';
import { unpackWorkflow } from './workflow-archive.ts';

/*
 * What a turn was asked and what it said is in files of its worker. When it has ended, a copy goes into the database, so that the
 * log of a run can be read from anywhere.
 */

const MAX_FILE_BYTES = 4 << 20;

/** A file of a turn that has ended. What a long one has in its middle is left out: so many bytes, after so many. */
export interface StoredFile {
  readonly bytes: Buffer;
  readonly cut?: { readonly after: number; readonly bytes: number };
}

/** The files of a turn that has ended, as far as it has any. */
type StoredFiles = Partial<Record<LiveFile, StoredFile>>;

/** What a file of a turn has after a byte of the whole file; null if that was never so long. */
export function restOf({ bytes, cut = { after: bytes.length, bytes: 0 } }: StoredFile, upTo: number): Buffer | null {
  if (upTo > bytes.length + cut.bytes) return null;
  return bytes.subarray(upTo <= cut.after ? upTo : Math.max(cut.after, upTo - cut.bytes));
}

/** Stores the files of a turn that has ended. */
export async function insertTurnFiles(database: Database, run: string, turn: TurnRef, folder: string): Promise<void> {
  const paths = turnFiles(folder);
  const contents: Partial<Record<LiveFile, PackedFile>> = {};
  for (const file of LIVE_FILES) {
    const whole = await readFile(paths[file]).catch(() => null);
    if (whole === null) continue;
    const { bytes, ...cut } = shorten(whole);
    contents[file] = { bytes: bytes.toString('base64'), ...cut };
  }
  if (Object.keys(contents).length === 0) return;
  await database.query(
    `insert into raymond.turns (run, agent, number, files) values ($1, $2, $3, $4)
     on conflict (run, agent, number) do update set files = $4`,
    [run, turn.agent, turn.number, gzipSync(JSON.stringify(contents))],
  );
}

/** A file as it is in the database. */
interface PackedFile extends Omit<StoredFile, 'bytes'> {
  readonly bytes: string;
}

/** The beginning and the end of a file that is too long, in whole lines. */
function shorten(whole: Buffer): StoredFile {
  if (whole.length <= MAX_FILE_BYTES) return { bytes: whole };
  const half = MAX_FILE_BYTES / 2;
  const head = whole.subarray(0, whole.lastIndexOf(LINE_FEED, half) + 1);
  const bytes = Buffer.concat([head, whole.subarray(whole.indexOf(LINE_FEED, whole.length - half) + 1)]);
  return { bytes, cut: { after: head.length, bytes: whole.length - bytes.length } };
}

const LINE_FEED = 0x0a;

/** Puts the files of turns where they can be read as on the worker, in a folder that is removed at the end. */
export class TurnFilesCache {
  private readonly database: Database;
  private root: string | undefined;
  /** The marks of the runs: a later run may have the same id. */
  private readonly marks = new Map<string, string>();

  constructor(database: Database) {
    this.database = database;
  }

  /** The folder of a turn; it does not exist if the database has no files of the turn. */
  async folderOf(run: string, turn: TurnName): Promise<string> {
    const knownMark = existsSync(this.pathOf(run, turn)) ? this.marks.get(run) : undefined;
    const [row] = await this.database.query<{ mark: string; files: Buffer | null }>(
      `select mark, case when mark = $4 then null else files end as files from raymond.runs
       left join raymond.turns on run = id and agent = $2 and number = $3 where id = $1`,
      [run, turn.agent, turn.number, knownMark ?? ''],
    );
    this.marks.set(run, row?.mark ?? '');
    const folder = this.pathOf(run, turn);
    // Another caller may have been faster.
    if (!row?.files || existsSync(folder)) return folder;
    const stored = unpack(row.files);
    mkdirSync(folder, { mode: 0o700 });
    for (const file of LIVE_FILES) {
      const bytes = stored[file]?.bytes;
      if (bytes !== undefined) writeFileSync(turnFiles(folder)[file], bytes, { mode: 0o600 });
    }
    return folder;
  }

  /** Removes the folder of a turn that nobody needs any more. */
  remove(run: string, turn: TurnName): void {
    rmSync(this.pathOf(run, turn), { recursive: true, force: true });
  }

  /** Reads the files of a turn that has ended; null if the database has none. */
  async read(run: string, { agent, number }: TurnName): Promise<StoredFiles | null> {
    const [row] = await this.database.query<{ files: Buffer }>(
      'select files from raymond.turns where run = $1 and agent = $2 and number = $3',
      [run, agent, number],
    );
    return row === undefined ? null : unpack(row.files);
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

  private pathOf(run: string, { agent, number }: TurnName): string {
    const key = createHash('sha256')
      .update(`${run}/${this.marks.get(run)}/${agent}`)
      .digest('hex');
    return join(this.makeRoot(), `${number}-${key}`);
  }

  private makeRoot(): string {
    this.root ??= mkdtempSync(join(tmpdir(), 'raymond-turns-'));
    return this.root;
  }

  close(): void {
    if (this.root !== undefined) rmSync(this.root, { recursive: true, force: true });
  }
}

function unpack(files: Buffer): StoredFiles {
  const packed: Partial<Record<LiveFile, PackedFile>> = JSON.parse(gunzipSync(files).toString('utf8'));
  return Object.fromEntries(
    Object.entries(packed).map(([file, { bytes, ...cut }]) => [file, { bytes: Buffer.from(bytes, 'base64'), ...cut }]),
  );
}
