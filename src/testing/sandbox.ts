import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { isFolderName } from '../scenario/answer-schema.ts';
import type { TestSpec } from '../scenario/test-spec.ts';
import { writeInsideFolder } from '../turns/replay/canned-turn.ts';

/** Temporary folders for tests, each with a `.raymond` of its own so that nothing is shared. */
export interface SandboxFolders {
  /** Makes an empty folder. Where no programs run, it may be in memory. */
  make(runsPrograms: boolean): string;
  /** Removes a folder, at the latest on `close`, unless folders are kept. */
  release(folder: string): void;
  /** Removes what is left, unless folders are kept. */
  close(): Promise<void>;
}

/** A file system in memory, many times as fast as a disk; not every machine has one. */
const MEMORY_FOLDER = '/dev/shm';

/** Opens a supply of folders for tests; with `keep` none of them is ever removed. */
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

/** Removes plain files and folders in a fraction of the time that `rmSync` takes, which handles everything unusual. */
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

/** Fills the folder of a test with copies of its fixtures and with its files, which win over fixtures of the same name. */
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

/**
 * A `sleep` that takes next to no time, whatever it is told: scripts that wait in a loop still let others have their turn. The
 * real one is behind it on the PATH.
 */
const STANDARD_PROGRAMS = process.platform === 'win32' ? {} : { sleep: 'PATH=${PATH#*:} exec sleep 0.01\n' };

/** Writes the stand-in programs of a test that runs scripts, and returns an environment in which they are found before all others. */
export function writePrograms(folder: string, spec: TestSpec, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const programs: TestSpec['programs'] = { ...STANDARD_PROGRAMS, ...spec.programs };
  const bin = join(folder, '.raymond', 'bin');
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs)) {
    const problem = writeInsideFolder(bin, name, text.startsWith('#!') ? text : `#!/bin/sh\n${text}`);
    if (problem !== null) throw fixtureError(problem);
  }
  return { ...env, PATH: [bin, ...(env.PATH === undefined ? [] : [env.PATH])].join(delimiter) };
}

const fixtureError = (message: string): RaymondError => new RaymondError(message, { exitCode: EXIT.invalid });

interface FolderRemover {
  /** False if the process is gone. */
  remove(folders: readonly string[]): boolean;
  /** Resolves when the process has ended. */
  end(): Promise<void>;
}

/** The number of folders that are worth starting an `rm` for. */
export const REMOVAL_BATCH_SIZE = 20;

/** Starts a process that removes folders beside us, on another processor if there is one. */
function startFolderRemover(): FolderRemover {
  const child = spawn('xargs', ['-0', '-n', String(REMOVAL_BATCH_SIZE), 'rm', '-rf', '--'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const closed = new Promise<void>((done) => {
    child.once('close', () => done()).once('error', () => done());
  });
  // It may end before it has read everything, and not every system has an `xargs`.
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
