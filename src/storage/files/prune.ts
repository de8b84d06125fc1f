import { lstatSync, readFileSync, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { diskError, replaceFile, syncFolder } from '../../disk/files.ts';
import { type FolderLayout, isDebugFolderOf } from '../../disk/layout.ts';
import { EXIT, errorCodeOf, RaymondError } from '../../errors.ts';
import { realPathOf } from '../../git-repository.ts';
import { findMarkedProcesses } from '../../process/marker.ts';
import { isRunningOnWindows } from '../../process/windows.ts';
import { findLinkOnTheWay, refuseLinksOnTheWay, removeBelow } from '../../remove-below.ts';
import type { HalfRemovedRuns, RunUsage } from '../run-summary.ts';
import { loadRun } from './load.ts';
import { takeOwnership } from './owner.ts';

/** How this user signs what only this user may have written, and recognizes it. */
export interface Signer {
  sign(text: string): Promise<string | null>;
  isSigned(text: string, signature: string): boolean;
}

/** Measures what a run takes on disk. A file with several names counts once. */
export async function measureRun(layout: FolderLayout, id: string): Promise<RunUsage> {
  const seen = new Set<string>();
  let bytes = 0;
  const changedAt = Math.max(
    ...[layout.stateFile(id), layout.journalFile(id)].map((file) => statOf(file)?.mtimeMs ?? 0),
  );
  const paths = [layout.stateFile(id), ...(await listFolders(layout, id))];
  const link = paths.map((path) => findLinkOnTheWay(layout.root, path)).find((found) => found !== null);
  if (link != null) return { bytes: 0, changedAt, obstacle: `${link} is a link` };
  for (const path of paths) {
    for (const each of await listAllBelow(path)) {
      const stats = statOf(each);
      const inode = `${stats?.dev}:${stats?.ino}`;
      if (stats === undefined || seen.has(inode)) continue;
      seen.add(inode);
      bytes += stats.size;
    }
  }
  return { bytes, changedAt };
}

/**
 * Removes a run that nobody drives, with everything that it left but worktrees. First a signed note says that it is no run any more, then its
 * state file goes; the note goes last, so that a removal that was cut short can be finished later.
 */
export async function removeRun(layout: FolderLayout, id: string, signer: Signer): Promise<void> {
  for (const path of [layout.stateFile(id), ...(await listFolders(layout, id))]) refuseLinksOnTheWay(layout.root, path);
  await refuseRunningTurns(layout, id);
  const owner = statOf(layout.runFolder(id)) === undefined ? undefined : await takeOwnership(layout.runFolder(id));
  try {
    if (statOf(layout.stateFile(id)) !== undefined) {
      await replaceFile(layout.prunedFile(id), `${(await signer.sign(prunedText(layout, id))) ?? ''}\n`);
      await removeBelow(layout.root, layout.stateFile(id));
      await syncFolder(layout.stateFolder);
    }
    await removeLeftovers(layout, id);
  } catch (error) {
    throw errorCodeOf(error) === '' ? error : diskError(`The run ${id} cannot be removed`, error, 'then try again.');
  } finally {
    await owner?.release();
  }
}

/** Finds the runs whose removal was cut short. */
export async function findHalfRemoved(layout: FolderLayout, signer: Signer): Promise<HalfRemovedRuns> {
  if (findLinkOnTheWay(layout.root, layout.prunedFile('x')) !== null) return { ids: [], unsigned: [] };
  const names = await readdir(layout.stateFolder).catch((): string[] => []);
  const noted = names.flatMap((name) => /^([A-Za-z0-9_-]+)\.pruned$/.exec(name)?.[1] ?? []);
  // A run with a state file was not removed, or a new one has got its id.
  const gone = noted.filter((id) => statOf(layout.stateFile(id)) === undefined);
  const isOwn = (id: string): boolean => signer.isSigned(prunedText(layout, id), readNote(layout.prunedFile(id)));
  return { ids: gone.filter(isOwn), unsigned: gone.filter((id) => !isOwn(id)).map((id) => layout.prunedFile(id)) };
}

const prunedText = ({ root }: FolderLayout, id: string): string =>
  JSON.stringify(['removed run', realPathOf(root), id]);

function readNote(file: string): string {
  try {
    return lstatSync(file).size > MAX_NOTE_BYTES ? '' : readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

const MAX_NOTE_BYTES = 1_024;

/** The turns of a run outlive its process, and nobody would find them again. */
async function refuseRunningTurns(layout: FolderLayout, id: string): Promise<void> {
  if (process.platform === 'win32') return refuseRunningFolders(layout, id);
  if ((await findMarkedProcesses(`${id}/`)).length === 0) return;
  // A run of another folder may have the same id; its mark is another.
  const mark = await loadRun(layout, id, { cut: false }).then(
    (loaded) => loaded.mark,
    () => null,
  );
  const [turn] = await findMarkedProcesses(mark === null ? `${id}/` : `${id}/${mark}/`);
  if (turn !== undefined) throw turnRunningError(id, `process ${turn.pid}`);
}

async function refuseRunningFolders(layout: FolderLayout, id: string): Promise<void> {
  const turns = layout.turnsFolder(id);
  for (const name of await readdir(turns).catch((): string[] => [])) {
    if (await isRunningOnWindows(join(turns, name))) throw turnRunningError(id, name);
  }
}

const turnRunningError = (id: string, turn: string): RaymondError =>
  new RaymondError(`A turn of run ${id} is still running: ${turn}.`, {
    exitCode: EXIT.usage,
    hint: `Stop it first: \`raymond stop ${id} --now\`.`,
  });

async function removeLeftovers(layout: FolderLayout, id: string): Promise<void> {
  for (const folder of await listFolders(layout, id)) await removeBelow(layout.root, folder);
  await removeBelow(layout.root, layout.prunedFile(id));
}

/** The folders of a run, its own one last: it holds the proof of who may remove it. */
async function listFolders(layout: FolderLayout, id: string): Promise<readonly string[]> {
  const names = await readdir(layout.debugRoot).catch((): string[] => []);
  const debugFolders = names.filter((name) => isDebugFolderOf(id, name)).map((name) => join(layout.debugRoot, name));
  return [...debugFolders, layout.tasksFolder(id), layout.runFolder(id)];
}

async function listAllBelow(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true }).catch((): string[] => []);
  return [path, ...entries.map((entry) => join(path, entry))];
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
