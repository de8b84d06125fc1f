import { readFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { TurnRef } from '../../core/turns/due.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { type OutputChunk, TURN_STREAMS, type TurnName, type TurnStream } from '../storage.ts';
import { turnKey } from './blobs.ts';
import type { Database } from './database.ts';
import { parseRow } from './parse-row.ts';

/*
 * The prompt and the output of a turn are in files of its node. When it has ended, a copy goes into the database, so that the
 * log of a run can be read from anywhere.
 */

const MAX_FILE_BYTES = 4 << 20;

/** A file of a turn that has ended. What a long one has in its middle is left out: so many bytes, after so many. */
export interface StoredFile {
  readonly bytes: Buffer;
  readonly cut?: { readonly after: number; readonly bytes: number };
}

/** The files of a turn that has ended, as far as it has any. */
type StoredFiles = Partial<Record<TurnStream, StoredFile>>;

/** The length of a file of a turn that has ended, with what was left out. */
export const sizeOf = ({ bytes, cut }: StoredFile): number => bytes.length + (cut?.bytes ?? 0);

/** The chunks of a file after a byte of the whole file. One that was never so long was emptied meanwhile, and begins anew. */
export function* chunksOf(file: StoredFile | undefined, after: number): Generator<OutputChunk> {
  if (file === undefined) return;
  const { bytes, cut = { after: bytes.length, bytes: 0 } } = file;
  const from = after > sizeOf(file) ? 0 : after;
  if (from < cut.after) yield { offset: from, bytes: bytes.subarray(from, cut.after) };
  const offset = Math.max(from, cut.after + cut.bytes);
  if (offset < sizeOf(file)) yield { offset, bytes: bytes.subarray(offset - cut.bytes) };
}

/** Stores the files of a turn that has ended. */
export async function insertTurnFiles(database: Database, run: string, turn: TurnRef, folder: string): Promise<void> {
  const paths = turnFiles(folder);
  const contents: Partial<Record<TurnStream, PackedFile>> = {};
  for (const file of TURN_STREAMS) {
    const whole = await readFile(paths[file]).catch(() => null);
    if (whole === null) continue;
    const { bytes, ...cut } = shorten(whole);
    contents[file] = { bytes: bytes.toString('base64'), ...cut };
  }
  if (Object.keys(contents).length === 0) return;
  await database.query(
    `insert into raymond.blobs (key, run, bytes) values ($1, $2, $3) on conflict (key) do update set bytes = $3`,
    [turnKey(run, turn.agent, turn.number), run, gzipSync(JSON.stringify(contents))],
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

/** Reads the files of a turn that has ended, null if there are none, and whether its run is running. */
export async function selectTurnFiles(
  database: Database,
  run: string,
  { agent, number }: TurnName,
): Promise<{ readonly files: StoredFiles | null; readonly isRunning: boolean }> {
  const [row] = await database.query<{ status: string; files: Buffer | null }>(
    'select status, bytes as files from raymond.runs left join raymond.blobs on key = $2 where id = $1',
    [run, turnKey(run, agent, number)],
  );
  const name = `The files of ${run}/${agent}/${number} in raymond.blobs of ${database.name}`;
  return { files: row?.files ? unpack(row.files, name) : null, isRunning: row?.status === 'running' };
}

const PACKED = z.partialRecord(
  z.enum(TURN_STREAMS),
  z.strictObject({ bytes: z.string(), cut: z.strictObject({ after: z.int(), bytes: z.int() }).exactOptional() }),
);

function unpack(files: Buffer, row: string): StoredFiles {
  const packed: Partial<Record<TurnStream, PackedFile>> = parseRow(PACKED, gunzipSync(files).toString('utf8'), row);
  return Object.fromEntries(
    Object.entries(packed).map(([file, { bytes, ...cut }]) => [file, { bytes: Buffer.from(bytes, 'base64'), ...cut }]),
  );
}
