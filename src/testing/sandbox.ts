import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { type FolderRemover, REMOVAL_BATCH_SIZE, startFolderRemover } from './folder-remover.ts';

/** Folders to play scenarios in, each with a `.raymond` of its own: nothing of what happens there is seen elsewhere. */
export interface SandboxFolders {
  /** Makes one, empty as yet; one in which nothing is run may be in memory only. */
  make(runsPrograms: boolean): string;
  /** Says that one is no longer needed: unless it is to be kept, it is removed with others. */
  release(folder: string): void;
  /** Removes what is left, unless it is to be kept. */
  close(): Promise<void>;
}

/** A folder in memory, where files are made many times as fast; not every machine has one. */
const MEMORY_FOLDER = '/dev/shm';

export function openSandboxFolders(keep: boolean): SandboxFolders {
  const roots = new Map<string, string>();
  const rootIn = (parent: string): string => {
    const root = roots.get(parent) ?? mkdtempSync(join(parent, 'raymond-test-'));
    roots.set(parent, root);
    return root;
  };
  const released: string[] = [];
  let remover: FolderRemover | undefined;
  let count = 0;
  const makeIn = (parent: string): string => {
    count += 1;
    const folder = join(rootIn(parent), String(count));
    for (const each of [folder, join(folder, '.raymond')]) mkdirSync(each, { mode: 0o700 });
    return folder;
  };
  let hasMemory = process.platform === 'linux' && !keep;
  return {
    make(runsPrograms) {
      if (hasMemory && !runsPrograms) {
        try {
          return makeIn(MEMORY_FOLDER);
        } catch {
          hasMemory = false;
        }
      }
      try {
        return makeIn(tmpdir());
      } catch (cause) {
        throw new RaymondError(`a folder for a scenario cannot be made in ${tmpdir()} (${errorCodeOf(cause)})`, {
          exitCode: EXIT.usage,
          hint: 'Make room there, or name another folder in TMPDIR.',
          cause,
        });
      }
    },
    release(folder) {
      if (keep || released.push(folder) < REMOVAL_BATCH_SIZE) return;
      const batch = released.splice(0);
      remover ??= startFolderRemover();
      if (!remover.remove(batch)) batch.forEach(removeFolder);
    },
    async close() {
      await remover?.end();
      if (!keep) for (const root of roots.values()) removeFolder(root);
    },
  };
}

/** The short way, which takes a fraction of the time of the general one; that one sees to everything unusual. */
function removeFolder(folder: string): void {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) removeFolder(path);
      else unlinkSync(path);
    }
    rmdirSync(folder);
  } catch {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
