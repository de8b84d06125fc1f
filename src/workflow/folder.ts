import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Platform, resolveEntry } from '../core/state-names.ts';
import { unreadableWorkflowFile, type WorkflowFiles } from './workflow-files.ts';

/**
 * The files directly in a folder. Before each turn they are listed and one of them is read, so that a change counts at
 * once; done synchronously, that takes a tenth of what it costs by way of the thread pool.
 */
export function openWorkflowFolder(path: string): WorkflowFiles {
  const name = basename(path) || path;
  return {
    name,
    pathOf: (file) => join(path, file),
    async list() {
      try {
        return readdirSync(path, { withFileTypes: true })
          .filter((entry) => !entry.name.startsWith('.') && isFile(path, entry))
          .map((entry) => entry.name)
          .sort();
      } catch (error) {
        throw unreadableWorkflowFile(name, error);
      }
    },
    async read(file) {
      try {
        return readFileSync(join(path, file));
      } catch (error) {
        throw unreadableWorkflowFile(file, error);
      }
    },
  };
}

/** A link counts as what it leads to; one that leads nowhere is no file. */
function isFile(folder: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile();
  try {
    return statSync(join(folder, entry.name)).isFile();
  } catch {
    return false;
  }
}

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
