import { spawn } from 'node:child_process';

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
export function startFolderRemover(): FolderRemover {
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
