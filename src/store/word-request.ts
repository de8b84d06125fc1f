import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tryParseJson } from '../core/json.ts';
import { errorCodeOf } from '../errors.ts';
import { diskError } from './disk-error.ts';
import { createFile, makePrivateFolder } from './files.ts';

/*
 * What a person says to an agent, with or without interrupting it, is a file in the folder `said` of its run, until the run's owner has it in the journal.
 *
 * 1. The file is complete and on disk from the first moment: it survives every crash, and a run that nobody drives finds it
 *    when it is resumed.
 * 2. Its id is in the journal with it. A file whose id is there already has only not been removed, and means nothing.
 * 3. The names sort by time.
 */

const VERSION = 1;

/** What a person says to an agent, or that its turn is to be interrupted. */
export interface WordRequest {
  readonly kind: 'say' | 'interrupt';
  readonly id: string;
  readonly agent: string;
  /** Null for an interruption after which the person is asked. */
  readonly text: string | null;
  readonly by: string;
  readonly at: number;
}

/** Puts a request on disk; returns its file. */
export async function writeWordRequest(folder: string, request: WordRequest, durable = true): Promise<string> {
  await makePrivateFolder(folder, durable);
  const file = join(folder, `${String(request.at).padStart(15, '0')}-${request.id}.json`);
  await createFile(file, `${formatWordRequest(request)}\n`, durable).catch((cause: unknown) => {
    throw diskError(`${file} cannot be made`, cause, 'then try again. Nothing was said.');
  });
  return file;
}

/** The names of the files of requests, the oldest first. Synchronous, because it is asked for several times a second. */
export function listWordRequests(folder: string): readonly string[] {
  // Mostly there is none, and to look takes less time than an error.
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort();
  } catch {
    return [];
  }
}

/** Reads a request; null if it cannot be read, undefined if it is gone. */
export function readWordRequest(file: string): WordRequest | null | undefined {
  try {
    return parseWordRequest(readFileSync(file, 'utf8'));
  } catch (error) {
    return errorCodeOf(error) === 'ENOENT' ? undefined : null;
  }
}

/** The text of a request, complete in itself. */
export const formatWordRequest = (request: WordRequest): string => JSON.stringify({ version: VERSION, ...request });

/** Parses the text of a request; null if it is none. Checked by hand: every run looks for requests, and few load the library for schemas, which takes 40 ms. */
export function parseWordRequest(text: string): WordRequest | null {
  const data: unknown = tryParseJson(text);
  if (typeof data !== 'object' || data === null) return null;
  const { version, kind, id, agent, text: words, by, at } = data as Readonly<Record<string, unknown>>;
  if (version !== VERSION || (kind !== 'say' && kind !== 'interrupt') || typeof at !== 'number') return null;
  if (typeof id !== 'string' || typeof agent !== 'string' || typeof by !== 'string') return null;
  if (typeof words !== 'string' && (words !== null || kind === 'say')) return null;
  return { kind, id, agent, text: words, by, at };
}

/** Removes a request that is in the journal. One that cannot be removed does no harm. */
export function removeWordRequest(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}
