import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Source, unreadable } from './source.ts';

/** The files directly in a folder. */
export function folderSource(path: string): Source {
  const name = basename(path) || path;
  return {
    name,
    pathOf: (file) => join(path, file),
    async list() {
      try {
        const entries = (await readdir(path, { withFileTypes: true })).filter((entry) => !entry.name.startsWith('.'));
        const kept = await Promise.all(entries.map((entry) => isFile(path, entry)));
        return entries
          .filter((_, index) => kept[index])
          .map((entry) => entry.name)
          .sort();
      } catch (error) {
        throw unreadable(name, error);
      }
    },
    async read(file) {
      try {
        return await readFile(join(path, file));
      } catch (error) {
        throw unreadable(file, error);
      }
    },
  };
}

/** A link counts as what it leads to; one that leads nowhere is no file. */
async function isFile(folder: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  return stat(join(folder, entry.name)).then(
    (target) => target.isFile(),
    () => false,
  );
}
