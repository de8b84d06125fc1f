import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf, EXIT, RaymondError } from '../errors.ts';

/** Folders to play scenarios in, each with a `.raymond` of its own: nothing of what happens there is seen elsewhere. */
export interface Sandboxes {
  /** Makes one that holds these files; one in which nothing is run may be in memory only. */
  make(files: Readonly<Record<string, string>>, isRunIn: boolean): string;
  drop(folder: string): void;
  /** Removes what is left, unless it is to be kept. */
  close(): void;
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
  let count = 0;
  const makeIn = (place: string, files: Readonly<Record<string, string>>): string => {
    count += 1;
    const folder = join(rootIn(place), String(count));
    mkdirSync(join(folder, '.raymond'), { recursive: true, mode: 0o700 });
    for (const [name, content] of Object.entries(files)) {
      if (/[/\\]/.test(name)) mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return folder;
  };
  let hasMemory = process.platform === 'linux' && !keep;
  return {
    make(files, isRunIn) {
      if (hasMemory && !isRunIn) {
        try {
          return makeIn(MEMORY, files);
        } catch {
          hasMemory = false;
        }
      }
      try {
        return makeIn(tmpdir(), files);
      } catch (cause) {
        throw new RaymondError(`a folder for a scenario cannot be made in ${tmpdir()} (${codeOf(cause)})`, {
          exitCode: EXIT.usage,
          hint: 'Make room there, or name another folder in TMPDIR.',
          cause,
        });
      }
    },
    drop: (folder) => (keep ? undefined : remove(folder)),
    close() {
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
