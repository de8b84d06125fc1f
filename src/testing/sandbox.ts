import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { isFolderName } from '../scenario/answer-schema.ts';
import type { TestSpec } from '../scenario/test-spec.ts';
import { writeInsideFolder } from '../turns/replay/write-inside-folder.ts';

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

/** Puts into the folder of a scenario what it holds at first: copies of its fixtures, and its files, which go before them. */
export function writeFixtures(folder: string, { files, fixtures }: Pick<TestSpec, 'files' | 'fixtures'>): void {
  for (const name of fixtures?.names.filter((each) => !Object.hasOwn(files, each)) ?? []) {
    const from = join(fixtures?.folder ?? '', name);
    try {
      if (isFolderName(name)) mkdirSync(join(folder, name));
      else copyFileSync(from, join(folder, name));
    } catch (error) {
      throw fixtureError(`${from} cannot be copied (${errorCodeOf(error)})`);
    }
  }
  for (const [name, content] of Object.entries(files)) {
    const problem = writeInsideFolder(folder, name, content);
    if (problem !== null) throw fixtureError(problem);
  }
}

const fixtureError = (message: string): RaymondError => new RaymondError(message, { exitCode: EXIT.invalid });

/** Somebody who removes folders while we go on. */
export interface FolderRemover {
  /** False if nobody is there to do it. */
  remove(folders: readonly string[]): boolean;
  /** Resolves when nothing more is removed; what could not be is left. */
  end(): Promise<void>;
}

/** So many folders are worth the start of an `rm`. */
export const REMOVAL_BATCH_SIZE = 20;

/** A process of its own, for which there may be another processor; not every system has such a program. */
function startFolderRemover(): FolderRemover {
  const child = spawn('xargs', ['-0', '-n', String(REMOVAL_BATCH_SIZE), 'rm', '-rf', '--'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const closed = new Promise<void>((done) => {
    child.once('close', () => done()).once('error', () => done());
  });
  // It may be gone before it has read everything.
  child.stdin.on('error', () => {});
  return {
    remove(folders) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false;
      child.stdin.write(folders.map((folder) => `${folder}\0`).join(''));
      return true;
    },
    end() {
      child.stdin.end();
      return closed;
    },
  };
}
