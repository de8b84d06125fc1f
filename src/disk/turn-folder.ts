import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { TurnRef } from '../core/turns/due.ts';
import { errorCodeOf } from '../errors.ts';
import { diskError, makePrivateFolder, PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from './files.ts';
import type { FolderLayout } from './layout.ts';

/**
 * Makes the folder of a turn, with these files in it, before the turn is on record, and returns its path. What a process
 * left there that died before it could record the turn is removed.
 *
 * Nothing is synced: the files survive the death of this process, and after a power cut nobody needs them, because the
 * turn's processes are gone, too; that there was a turn is in the journal. The calls are synchronous because the way
 * through the thread pool would take longer.
 */
export async function createTurnFolder(
  layout: FolderLayout,
  run: string,
  turn: TurnRef,
  files: Readonly<Record<string, string | Uint8Array>>,
  durable = true,
): Promise<string> {
  const folder = layout.turnFolder(run, turn);
  if (!tryMakeFolder(folder)) await remakeFolder(layout.turnsFolder(run), folder, durable);
  try {
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(`${folder}${sep}${name}`, content, { mode: PRIVATE_FILE_MODE, encoding: 'utf8' });
    }
    return folder;
  } catch (cause) {
    throw turnFolderError(folder, cause);
  }
}

/** Writes the results of a join before the turn that gets them is on record. Nothing is synced, as above. */
export async function writeResultsFile(file: string, content: string): Promise<void> {
  await makePrivateFolder(dirname(file), false);
  try {
    writeFileSync(file, content, { mode: PRIVATE_FILE_MODE, encoding: 'utf8' });
  } catch (cause) {
    throw diskError(`${file} cannot be written`, cause, 'then try again. The turn was not started.');
  }
}

/** Makes the folder with one call, as is nearly always possible; false if its parent is missing or it exists. */
function tryMakeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: PRIVATE_FOLDER_MODE });
    return true;
  } catch (cause) {
    if (['ENOENT', 'EEXIST', 'ENOTDIR'].includes(errorCodeOf(cause))) return false;
    throw turnFolderError(folder, cause);
  }
}

async function remakeFolder(turns: string, folder: string, durable: boolean): Promise<void> {
  if (existsSync(startedFile(folder))) throw new Error(`${folder} belongs to a turn that has started`);
  await makePrivateFolder(turns, durable);
  try {
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: PRIVATE_FOLDER_MODE });
  } catch (cause) {
    throw turnFolderError(folder, cause);
  }
}

const turnFolderError = (folder: string, cause: unknown): Error =>
  diskError(`The folder ${folder} cannot be filled`, cause, 'then try again. The turn was not started.');

/** A turn whose folder shows that it has begun. */
export interface BegunTurn {
  readonly number: number;
  /** The state without its suffix; of a long name only the beginning and a hash. */
  readonly stem: string;
  readonly folder: string;
}

/**
 * Finds the turns of an agent from this one on that have begun, by their folders. There are none while the journal is whole:
 * a turn is on record before it begins, and `turn` is not. Nearly always that takes one look.
 */
export function findBegunTurns(layout: FolderLayout, run: string, turn: TurnRef): readonly BegunTurn[] {
  if (!existsSync(startedFile(layout.turnFolder(run, turn)))) return [];
  const turns = layout.turnsFolder(run);
  return readdirSync(turns)
    .flatMap((name) => {
      const parsed = layout.parseTurnFolder(name, turn.agent);
      const folder = join(turns, name);
      return parsed !== undefined && parsed.number >= turn.number && existsSync(startedFile(folder))
        ? [{ ...parsed, folder }]
        : [];
    })
    .sort((a, b) => a.number - b.number);
}

const startedFile = (folder: string): string => `${folder}${sep}started`;

/** Removes the folder of a turn, for runs that keep nothing. */
export async function removeTurnFolder(layout: FolderLayout, run: string, turn: TurnRef): Promise<void> {
  const folder = layout.turnFolder(run, turn);
  await rm(folder, { recursive: true, force: true }).catch((cause: unknown) => {
    throw diskError(`The folder ${folder} cannot be removed`, cause, 'then remove it by hand.');
  });
}
