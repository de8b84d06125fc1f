import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { AT_A_TIME, type Remover, startRemover } from './remover.ts';

/** Folders to play scenarios in, each with a `.raymond` of its own: nothing of what happens there is seen elsewhere. */
export interface Sandboxes {
  /** Makes one, empty as yet; one in which nothing is run may be in memory only. */
  make(isRunIn: boolean): string;
  /** Says that one is no longer needed: unless it is to be kept, it is removed with others. */
  drop(folder: string): void;
  /** Removes what is left, unless it is to be kept. */
  close(): Promise<void>;
}

/** A folder in memory, where files are made many times as fast; not every machine has one. */
const MEMORY = '/dev/shm';

export function openSandboxes(keep: boolean): Sandboxes {
  const roots = new Map<string, string>();
  const rootIn = (place: string): string => {
    const root = roots.get(place) ?? mkdtempSync(join(place, 'raymond-test-'));
    roots.set(place, root);
    return root;
  };
  const dropped: string[] = [];
  let remover: Remover | undefined;
  let count = 0;
  const makeIn = (place: string): string => {
    count += 1;
    const folder = join(rootIn(place), String(count));
    for (const each of [folder, join(folder, '.raymond')]) mkdirSync(each, { mode: 0o700 });
    return folder;
  };
  let hasMemory = process.platform === 'linux' && !keep;
  return {
    make(isRunIn) {
      if (hasMemory && !isRunIn) {
        try {
          return makeIn(MEMORY);
        } catch {
          hasMemory = false;
        }
      }
      try {
        return makeIn(tmpdir());
      } catch (cause) {
        throw new RaymondError(`a folder for a scenario cannot be made in ${tmpdir()} (${codeOf(cause)})`, {
          exitCode: EXIT.usage,
          hint: 'Make room there, or name another folder in TMPDIR.',
          cause,
        });
      }
    },
    drop(folder) {
      if (keep || dropped.push(folder) < AT_A_TIME) return;
      const load = dropped.splice(0);
      remover ??= startRemover();
      if (!remover.remove(load)) load.forEach(remove);
    },
    async close() {
      await remover?.end();
      if (!keep) for (const root of roots.values()) remove(root);
    },
  };
}

/** The short way, which takes a fraction of the time of the general one; that one sees to everything unusual. */
function remove(folder: string): void {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) remove(path);
      else unlinkSync(path);
    }
    rmdirSync(folder);
  } catch {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
