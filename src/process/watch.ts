import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Waits for a file to change. */
export interface FileWatch {
  /** Resolves at the next change, at once if one came since the last call, and at the latest after `everyMs`. */
  readonly next: () => Promise<void>;
  /** Resolves `next` now. */
  readonly wake: () => void;
  readonly close: () => void;
}

/**
 * Watches a file that need not exist yet, through its folder. The system may have no watch left or report nothing
 * (network file systems), so it also wakes every `everyMs`.
 */
export function watchFile(file: string, everyMs: number): FileWatch {
  let changed = false;
  let waiting: (() => void) | undefined;
  const wake = (): void => {
    changed = true;
    waiting?.();
  };
  const watcher = watchFolder(dirname(file), (name) => {
    if (name === null || name === basename(file)) wake();
  });
  const next = async (): Promise<void> => {
    if (!changed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs);
        waiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      waiting = undefined;
    }
    changed = false;
  };
  return { next, wake, close: () => watcher?.close() };
}

function watchFolder(folder: string, onChange: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_, name) => onChange(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
