import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Platform, resolveEntry } from '../core/state-names.ts';

/** As many folders are looked into. */
const MAX_SUBFOLDERS = 100;

/** The states to start in that folders directly below this one have: whoever names it may have meant one of those. */
export function findEntriesInSubfolders(path: string, platform: Platform): readonly string[] {
  const folders = listVisibleNames(path, true).slice(0, MAX_SUBFOLDERS);
  return folders.flatMap((folder) => {
    const entry = resolveEntry({ files: listVisibleNames(join(path, folder), false), platform });
    return entry.kind === 'found' ? `${folder}/${entry.file}` : [];
  });
}

function listVisibleNames(path: string, folders: boolean): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.name.startsWith('.') && entry.isDirectory() === folders)
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}
