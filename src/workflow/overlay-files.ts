import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { unreadableWorkflowFile } from './invalid-workflow.ts';
import type { WorkflowFiles } from './workflow-files.ts';

/** The files of a workflow with those of a folder laid over them: a file of the same name takes the place of the other. */
export function overlayFiles(files: WorkflowFiles, folder: string): WorkflowFiles {
  const isLaidOver = (file: string): boolean => existsSync(join(folder, file));
  return {
    ...files,
    async list() {
      const own = readdirSync(folder).filter((name) => !name.startsWith('.'));
      return [...new Set([...(await files.list()), ...own])].sort();
    },
    async read(file) {
      if (!isLaidOver(file)) return files.read(file);
      const path = join(folder, file);
      try {
        return { bytes: readFileSync(path), executable: (statSync(path).mode & 0o111) !== 0 };
      } catch (error) {
        throw unreadableWorkflowFile(file, error);
      }
    },
    pathOf: (file) => (isLaidOver(file) && files.pathOf(file) !== null ? join(folder, file) : files.pathOf(file)),
    problemOf: (file) => (isLaidOver(file) ? undefined : files.problemOf(file)),
  };
}
