import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrently } from '../workflow/concurrent.ts';
import type { FileContent } from '../workflow/workflow-files.ts';

const MAX_CONCURRENT_WRITES = 16;

/**
 * Unpacks the files of a zip or a one-file workflow, so that scripts find what lies beside them; after a resume, files that
 * have changed since are replaced.
 */
export async function placeWorkflowFiles(folder: string, files: ReadonlyMap<string, FileContent>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await mapConcurrently([...files], MAX_CONCURRENT_WRITES, async ([file, { bytes, executable }]) => {
    const path = join(folder, file);
    const current = await readFile(path).catch(() => null);
    if (current?.equals(bytes)) return;
    // A script may be running: it is replaced as a whole.
    await writeFile(`${path}.new`, bytes, { mode: executable ? 0o777 : 0o666 });
    await rename(`${path}.new`, path);
  });
}
