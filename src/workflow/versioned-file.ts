import { type BigIntStats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { unreadableWorkflowFile } from './invalid-workflow.ts';

/** Makes a function that gives what `load` makes of a file, and calls it again only once the file has changed. */
export function cacheUntilChanged<T>(path: string, load: () => Promise<T>): () => Promise<T> {
  let cached: { readonly version: string; readonly content: Promise<T> } | undefined;
  return async () => {
    const version = readVersion(path);
    if (cached?.version !== version) {
      const loading = { version, content: load() };
      cached = loading;
      // The next try may succeed: the file may be half written.
      loading.content.catch(() => {
        if (cached === loading) cached = undefined;
      });
    }
    return cached.content;
  };
}

/** Done synchronously, because it is done for each state, and the thread pool takes ten times as long. */
function readVersion(path: string): string {
  try {
    return versionOf(statSync(path, { bigint: true }));
  } catch (error) {
    throw unreadableWorkflowFile(basename(path), error);
  }
}

/** Identifies a version of a file: it differs once the file was replaced or written to. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
