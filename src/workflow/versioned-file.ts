import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { unreadableWorkflowFile } from './invalid-workflow.ts';

/** Makes a function that gives what `load` makes of a file, and calls it again only once the file has changed. */
export function cacheUntilChanged<T>(path: string, load: () => Promise<T>): () => Promise<T> {
  let cached: { readonly version: string; readonly content: Promise<T> } | undefined;
  return async () => {
    const version = await stat(path, { bigint: true }).then(versionOf, (error: unknown) => {
      throw unreadableWorkflowFile(basename(path), error);
    });
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

/** Identifies a version of a file: it differs once the file was replaced or written to. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
