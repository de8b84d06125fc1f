import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { type RestoredFolder, removeRestored } from '../../git/restore-folder.ts';
import { realPathOf } from '../../git-repository.ts';
import { tryParseJson } from '../../language/text/json.ts';
import { identifyThisProcess, isProcessAlive } from '../../process/identity.ts';
import { removeBelow } from '../../remove-below.ts';
import { isSignedByUser, signAsUser } from '../trust/run-seal.ts';

/*
 * A rerun makes folders, branches and copies of conversations before its journal begins. What it is about to make is written down first. If
 * it is killed before the run exists, the next rerun removes all of that.
 */

/** The results of a rerun before its run exists. */
export interface Making {
  readonly folders: readonly Pick<RestoredFolder, 'path' | 'worktree'>[];
  /** Files and folders of conversations. */
  readonly sessions: readonly string[];
}

interface Note extends Making {
  readonly pid: number;
  readonly startTime: string | null;
}

const noteFile = (layout: FolderLayout, id: string): string => join(layout.runFolder(id), 'rerun.json');

/** Writes down what a rerun is about to make. */
export async function noteMaking(
  layout: FolderLayout,
  id: string,
  making: Making,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { pid, startTime } = await identifyThisProcess();
  const note: Note = { pid, startTime, ...making };
  const signature = await signAsUser(signedText(layout, id, note), env);
  await replaceFile(noteFile(layout, id), JSON.stringify({ note, signature }));
}

/** Only what this user has written down is ever removed: a project may come with files of anybody. */
const signedText = ({ root }: FolderLayout, id: string, note: Note): string =>
  JSON.stringify(['rerun', realPathOf(root), id, note]);

/** Takes the note away once the run exists. */
export const forgetMaking = (layout: FolderLayout, id: string): Promise<void> =>
  rm(noteFile(layout, id), { force: true }).catch(() => {});

/** Removes what was made for a run that does not exist. */
export async function undoMaking(
  layout: FolderLayout,
  id: string,
  { folders, sessions }: Making,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  for (const folder of folders) await removeRestored(folder, { env }).catch(() => {});
  for (const path of sessions) {
    for (const each of [path, `${path}.partial`]) await rm(each, { recursive: true, force: true }).catch(() => {});
  }
  for (const path of [layout.tasksFolder(id), layout.runFolder(id)])
    if (existsSync(path)) await removeBelow(layout.root, path).catch(() => {});
}

/** Removes what killed reruns have left. */
export async function clearLeftovers(layout: FolderLayout, env: NodeJS.ProcessEnv): Promise<void> {
  for (const id of await readdir(layout.runsFolder).catch((): string[] => [])) {
    if (!existsSync(noteFile(layout, id))) continue;
    const note = readNote(layout, id, await readFile(noteFile(layout, id), 'utf8').catch(() => ''), env);
    if (note === null || (await isProcessAlive(note))) continue;
    if (existsSync(layout.stateFile(id))) await forgetMaking(layout, id);
    else await undoMaking(layout, id, note, env);
  }
}

function readNote(layout: FolderLayout, id: string, text: string, env: NodeJS.ProcessEnv): Note | null {
  const data = tryParseJson(text);
  if (typeof data !== 'object' || data === null || !('note' in data) || !('signature' in data)) return null;
  const { note, signature } = data;
  if (!isNote(note) || typeof signature !== 'string') return null;
  return isSignedByUser(signedText(layout, id, note), signature, env) ? note : null;
}

const isNote = (data: unknown): data is Note =>
  typeof data === 'object' &&
  data !== null &&
  'pid' in data &&
  typeof data.pid === 'number' &&
  'folders' in data &&
  Array.isArray(data.folders) &&
  'sessions' in data &&
  Array.isArray(data.sessions);
