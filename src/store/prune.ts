import { lstatSync, type Stats } from 'node:fs';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { findMarkedProcesses } from '../process/marker.ts';
import { diskError } from './disk-error.ts';
import { syncFolder } from './files.ts';
import { isDebugFolderOf, type StoreLayout } from './layout.ts';
import { loadRun } from './load.ts';
import { takeOwnership } from './owner.ts';

/** What a run takes on disk. */
export interface RunUsage {
  readonly bytes: number;
  /** When something of it was last written: the end of a run that has ended. */
  readonly changedAt: number;
}

/** Measures what a run takes on disk. A file with several names counts once. */
export async function measureRun(layout: StoreLayout, id: string): Promise<RunUsage> {
  const seen = new Set<string>();
  let bytes = 0;
  const changedAt = Math.max(
    ...[layout.stateFile(id), layout.journalFile(id)].map((file) => statOf(file)?.mtimeMs ?? 0),
  );
  for (const path of [layout.stateFile(id), ...(await listFolders(layout, id))]) {
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
 * Removes a run that nobody drives, with everything that it left but worktrees. First its state file gets a name under which it is no
 * run any more; that file goes last, so that a removal that was cut short can be finished later.
 */
export async function removeRun(layout: StoreLayout, id: string): Promise<void> {
  await refuseRunningTurns(layout, id);
  const owner = statOf(layout.runFolder(id)) === undefined ? undefined : await takeOwnership(layout.runFolder(id));
  try {
    if (statOf(layout.stateFile(id)) !== undefined) {
      await rename(layout.stateFile(id), layout.prunedFile(id));
      await syncFolder(layout.stateFolder);
    }
    await removeLeftovers(layout, id);
  } catch (error) {
    throw errorCodeOf(error) === '' ? error : diskError(`The run ${id} cannot be removed`, error, 'then try again.');
  } finally {
    await owner?.release();
  }
}

/** Finishes removals that were cut short, and returns the ids of those runs. */
export async function finishRemovals(layout: StoreLayout): Promise<readonly string[]> {
  const names = await readdir(layout.stateFolder).catch((): string[] => []);
  const ids = names.flatMap((name) => /^([A-Za-z0-9_-]+)\.pruned$/.exec(name)?.[1] ?? []);
  for (const id of ids) {
    // A new run may have got the id meanwhile.
    if (statOf(layout.stateFile(id)) === undefined) await removeLeftovers(layout, id);
    else await rm(layout.prunedFile(id), { force: true });
  }
  return ids;
}

/** The turns of a run outlive its process, and nobody would find them again. */
async function refuseRunningTurns(layout: StoreLayout, id: string): Promise<void> {
  if (process.platform === 'win32' || (await findMarkedProcesses(`${id}/`)).length === 0) return;
  // A run of another folder may have the same id; its mark is another.
  const mark = await loadRun(layout, id, { cut: false }).then(
    (loaded) => loaded.mark,
    () => null,
  );
  const [turn] = await findMarkedProcesses(mark === null ? `${id}/` : `${id}/${mark}/`);
  if (turn === undefined) return;
  throw new RaymondError(`A turn of run ${id} is still running: process ${turn.pid}.`, {
    exitCode: EXIT.usage,
    hint: `Stop it first: \`raymond stop ${id} --now\`.`,
  });
}

async function removeLeftovers(layout: StoreLayout, id: string): Promise<void> {
  // Only if it is empty: a worktree may hold work.
  await rmdir(layout.worktreesFolder(id)).catch(() => {});
  for (const folder of await listFolders(layout, id)) await rm(folder, { recursive: true, force: true });
  await rm(layout.prunedFile(id), { force: true });
}

/** The folders of a run, its own one last: it holds the proof of who may remove it. */
async function listFolders(layout: StoreLayout, id: string): Promise<readonly string[]> {
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
