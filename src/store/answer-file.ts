import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AskAnswer } from '../core/ask.ts';
import { EXIT, errorCodeOf } from '../errors.ts';
import { diskError } from './disk-error.ts';
import { createFile, makePrivateFolder } from './files.ts';

/*
 * The end of a question is one file in the folder `answers` of its run, made exclusively: the answer of a person, or the
 * word of the run's owner that the time is over. Whoever comes second finds it there and is told so.
 *
 * 1. The file is complete from the first moment, so the owner can take it up at any time, also after a crash.
 * 2. It stays when the journal has it: a late answer is refused for as long as the run exists.
 * 3. Files that come with an answer lie beside it, in a folder that only this answer names, until the owner takes it up.
 */

/** The version of these files. */
export const ANSWER_VERSION = 1;

/** Files that a person hands over: the name that each is to have, and where it is now. */
export type Uploads = readonly { readonly name: string; readonly path: string }[];

/** Puts an answer on disk. False if the question has ended before; then nothing is left of this answer. */
export async function writeAnswer(
  file: string,
  answer: Omit<AskAnswer, 'files'>,
  uploads: Uploads,
  durable = true,
): Promise<boolean> {
  await makePrivateFolder(dirname(file), durable);
  const staged = uploads.length === 0 ? null : await stageFiles(file, uploads);
  const files = uploads.map(({ name }) => name);
  const isFirst = await createEnd(file, formatAnswer({ ...answer, files }, staged), durable);
  if (!isFirst && staged !== null) await rm(join(dirname(file), staged), { recursive: true, force: true });
  return isFirst;
}

/** Ends a question whose time is over. False if it has ended before. */
export async function writeTimeout(file: string, ask: string, at: number, durable = true): Promise<boolean> {
  await makePrivateFolder(dirname(file), durable);
  return createEnd(file, formatTimeout(ask, at), durable);
}

/** The text of an answer, and the folder that holds its files. */
export const formatAnswer = ({ ask, text, by, answeredAt, files }: AskAnswer, staged: string | null): string =>
  `${JSON.stringify({ version: ANSWER_VERSION, kind: 'answered', ask, text, by, answered_at: answeredAt, files, staged })}\n`;

/** The text that ends a question whose time is over. */
export const formatTimeout = (ask: string, at: number): string =>
  `${JSON.stringify({ version: ANSWER_VERSION, kind: 'timed_out', ask, at })}\n`;

const createEnd = (file: string, content: string, durable: boolean): Promise<boolean> =>
  createFile(file, content, durable).catch((cause: unknown) => {
    throw diskError(`${file} cannot be made`, cause, 'then try again. The question still waits.');
  });

async function stageFiles(file: string, uploads: Uploads): Promise<string> {
  const folder = await mkdtemp(`${file}.`);
  for (const { name, path } of uploads) {
    await copyFile(path, join(folder, name)).catch(async (cause: unknown) => {
      await rm(folder, { recursive: true, force: true });
      throw diskError(`${path} cannot be handed over`, cause, 'then try again. The question still waits.');
    });
  }
  return basename(folder);
}

/** The names of the files of questions that have ended. Synchronous, because it is asked for several times a second. */
export function listEndFiles(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder));
  } catch {
    return new Set();
  }
}

/** Moves the files of an answer to where the agent finds them. After a crash it is done again. */
export async function placeFiles(staged: string, files: readonly string[], folder: string): Promise<void> {
  await makePrivateFolder(folder, false);
  for (const name of files) {
    const target = join(folder, name);
    await copyFile(join(staged, name), target).catch((cause: unknown) => {
      if (errorCodeOf(cause) === 'ENOENT' && existsSync(target)) return;
      throw diskError(`${target} cannot be written`, cause, 'then resume the run. The answer is kept.', EXIT.paused);
    });
  }
  await rm(staged, { recursive: true, force: true }).catch(() => {});
}
