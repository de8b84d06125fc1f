import { readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, makePrivateFolder, PRIVATE_FOLDER_MODE, readRegularFile, syncFolder } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { errorCodeOf } from '../../errors.ts';
import { tryParseJson } from '../../language/text/json.ts';
import { formatRequest, type InboxRequest, parseUploadKey, uploadKey } from '../requests.ts';

/*
 * Earlier versions of Raymond kept answers in `answers/`, messages in `said/` and requests to stop in `stop-MODE.ID`. An answer stayed
 * after the journal had it, a message did not. Whether the journal has one is found out by the process that drives the run.
 */

const ANSWERS = 'answers';
const MESSAGES = 'said';
const STOP_FILE = /^stop-(?:soon|now)\.[0-9a-f]+$/;

/** The name under which an older Raymond signs the end of a question that nobody answered. */
const DEADLINE = 'deadline';

/** Moves what an older Raymond left for a run into its inbox; the caller drives the run. Requests to stop were for an earlier process. */
export async function importOldRequests(layout: FolderLayout, run: string, durable = true): Promise<void> {
  const folder = layout.runFolder(run);
  for (const name of namesIn(folder)) if (STOP_FILE.test(name)) await rm(join(folder, name), { force: true });
  for (const { place, parse } of [
    { place: ANSWERS, parse: parseOldAnswer },
    { place: MESSAGES, parse: parseOldMessage },
  ]) {
    const old = join(folder, place);
    for (const name of namesIn(old).filter((each) => each.endsWith('.json'))) {
      const data = readJson(join(old, name));
      const request = data === null ? null : parse(data, run);
      if (request === null) continue;
      await moveUploads(layout, request, old, data?.staged);
      await makePrivateFolder(layout.inboxFolder(run), durable);
      await createFile(layout.requestFile(run, request.id), formatRequest(request, null), durable);
      await rm(join(old, name), { force: true });
    }
    // Unreadable requests stay; their questions still wait.
    if (namesIn(old).length === 0) await rm(old, { recursive: true, force: true });
  }
}

/** Reads the end of a question that an older Raymond has left; null if there is none. */
export function readOldAnswer(layout: FolderLayout, run: string, ask: string): InboxRequest | null {
  const name = layout.requestFile(run, ask).slice(layout.inboxFolder(run).length + 1);
  const data = readJson(join(layout.runFolder(run), ANSWERS, name));
  return data && parseOldAnswer(data, run);
}

type OldData = Readonly<Record<string, unknown>>;

function parseOldAnswer({ version, kind, ask, ...data }: OldData, run: string): InboxRequest | null {
  const { text, by, answered_at: answeredAt, at, files, staged } = data;
  if (version !== 1 || typeof ask !== 'string') return null;
  if (kind === 'timed_out') return typeof at === 'number' ? { kind: 'timeout', id: ask, by: DEADLINE, at } : null;
  if (kind !== 'answered' || typeof text !== 'string' || typeof by !== 'string') return null;
  if (typeof answeredAt !== 'number' || !Array.isArray(files) || (files.length > 0 && typeof staged !== 'string'))
    return null;
  const keys = files.map((name) => uploadKey(run, String(staged), String(name)));
  if (keys.some((key) => parseUploadKey(key) === null)) return null;
  return { kind: 'answer', id: ask, by, at: answeredAt, text, files: keys };
}

function parseOldMessage({ version, kind, id, agent, text, by, at }: OldData): InboxRequest | null {
  if (version !== 1 || typeof id !== 'string' || typeof agent !== 'string' || typeof by !== 'string') return null;
  if (typeof at !== 'number') return null;
  if (kind === 'say') return typeof text === 'string' ? { kind: 'message', id, by, at, agent, text } : null;
  if (kind !== 'interrupt' || (typeof text !== 'string' && text !== null)) return null;
  return { kind, id, by, at, agent, text };
}

/** Moves the folder with the files of an answer; one that is gone was moved, or its files are with the agent already. */
async function moveUploads(layout: FolderLayout, request: InboxRequest, old: string, staged: unknown): Promise<void> {
  if (request.kind !== 'answer' || request.files.length === 0) return;
  const [first] = request.files;
  const { run, group } = (first && parseUploadKey(first)) || {};
  if (run === undefined || group === undefined) return;
  await mkdir(layout.uploadsFolder(run), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await rename(join(old, String(staged)), join(layout.uploadsFolder(run), group)).catch((error: unknown) => {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
  });
  await syncFolder(layout.uploadsFolder(run));
}

function readJson(file: string): OldData | null {
  try {
    const data: unknown = tryParseJson(readRegularFile(file));
    return typeof data === 'object' && data !== null ? (data as OldData) : null;
  } catch {
    return null;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
