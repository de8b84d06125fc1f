import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mapConcurrently } from '../workflow/concurrent.ts';
import type { Workflow } from '../workflow/workflow.ts';

const MAX_CONCURRENT_WRITES = 16;

/**
 * Finds the folder with a workflow's files. Those of a zip or a one-file workflow are unpacked into the run's own folder,
 * so that scripts find what lies beside them; after a resume, files that have changed since are replaced.
 */
export async function placeWorkflowFiles(workflow: Workflow, runFolder: string): Promise<string> {
  const entryPath = workflow.pathOf(workflow.entry);
  if (entryPath !== null) return dirname(entryPath);
  const folder = join(runFolder, 'workflow');
  await mkdir(folder, { recursive: true });
  await mapConcurrently(
    [...(await workflow.readFiles())],
    MAX_CONCURRENT_WRITES,
    async ([file, { bytes, executable }]) => {
      const path = join(folder, file);
      const current = await readFile(path).catch(() => null);
      if (current?.equals(bytes)) return;
      // A script may be running: it is replaced as a whole.
      await writeFile(`${path}.new`, bytes, { mode: executable ? 0o777 : 0o666 });
      await rename(`${path}.new`, path);
    },
  );
  return folder;
}
