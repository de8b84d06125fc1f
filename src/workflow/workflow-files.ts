import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Platform, resolveEntry } from '../core/state-names.ts';
import { unreadableWorkflowFile } from './invalid-workflow.ts';

/**
 * The files of a workflow; only the code that makes one knows whether it is a folder or a zip.
 * Listing or reading throws InvalidWorkflow if it fails.
 */
export interface WorkflowFiles {
  /** The name for messages. */
  readonly name: string;
  /** Lists the names of its files as they are now, sorted; no folders, no dot files. */
  list(): Promise<readonly string[]>;
  /** Reads the bytes of a file as they are now. */
  read(file: string): Promise<Uint8Array>;
  /** The path of a file on disk; null if it is inside a zip. */
  pathOf(file: string): string | null;
}

/**
 * Opens a folder as the files of a workflow. Before each turn they are listed and one is read, so that changes take
 * effect at once; done synchronously, that takes a tenth of the time that the thread pool needs.
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

/** Whether an entry is a file, or a link to one. */
function isFile(folder: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile();
  try {
    return statSync(join(folder, entry.name)).isFile();
  } catch {
    return false;
  }
}

const MAX_SUBFOLDERS = 100;

/** Finds start states in the folders directly below this one: the user may have meant one of those. */
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
