import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskError, makePrivateFolder, PRIVATE_FILE_MODE } from '../disk/files.ts';
import { EXIT } from '../errors.ts';
import type { AskAnswer } from '../language/ask.ts';
import { type InboxRequest, parseUploadKey, uploadKey } from './requests.ts';
import type { Blobs, RunInbox } from './storage.ts';

/** Files that a person hands over: the name that each is to have, where it is now, and its type if that was told. */
export type Uploads = readonly { readonly name: string; readonly path: string; readonly mime?: string }[];

/** The inbox of runs, and the blobs with the files of answers. */
export interface AnswerStorage {
  readonly inbox: RunInbox;
  readonly blobs: Blobs;
}

const ANYONE = { node: null, epoch: null, turn: null };

/** Puts an answer with its files into the inbox of a run. False if the question has ended before; then nothing of this answer is left. */
export async function putAnswer(
  { inbox, blobs }: AnswerStorage,
  run: string,
  { ask, text, by, answeredAt }: Omit<AskAnswer, 'files'>,
  files: Uploads,
): Promise<boolean> {
  const group = randomUUID();
  const keys: string[] = [];
  for (const { name, path } of files) {
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw diskError(`${path} cannot be handed over`, cause, 'then try again. The question still waits.');
    });
    const key = uploadKey(run, group, name);
    await blobs.put(key, bytes, ANYONE);
    keys.push(key);
  }
  const isFirst = await inbox.put(run, { kind: 'answer', id: ask, by, at: answeredAt, text, files: keys });
  if (!isFirst && keys.length > 0) await blobs.remove(uploadKey(run, group, ''));
  return isFirst;
}

/** The answer that a request gives. */
export const toAskAnswer = ({ id, text, by, at, files }: Extract<InboxRequest, { kind: 'answer' }>): AskAnswer => ({
  ask: id,
  text,
  by,
  answeredAt: at,
  files: files.map((key) => parseUploadKey(key)?.name ?? key),
});

/** Writes the files of an answer where the agent finds them. After a crash it is done again. */
export async function placeUploads(uploads: Blobs, keys: readonly string[], folder: string): Promise<void> {
  if (keys.length > 0) await makePrivateFolder(folder, false);
  for (const key of keys) {
    const { name } = parseUploadKey(key) ?? { name: key };
    const target = join(folder, name);
    try {
      const blob = await uploads.get(key);
      // Removed once the journal has the answer.
      if (blob === null && existsSync(target)) continue;
      if (blob === null) throw new Error(`${key} is missing`);
      await writeFile(target, blob.bytes, { mode: PRIVATE_FILE_MODE });
    } catch (cause) {
      throw diskError(`${target} cannot be written`, cause, 'then resume the run. The answer is kept.', EXIT.paused);
    }
  }
}

/** Removes the files of an answer that its agent has. */
export async function removeUploads(uploads: Blobs, keys: readonly string[]): Promise<void> {
  // Other machines may take turns of the agent, too.
  const parts = uploads.isShared || keys[0] === undefined ? null : parseUploadKey(keys[0]);
  if (parts !== null) await uploads.remove(uploadKey(parts.run, parts.group, ''));
}
