import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProgramFiles } from '../workflow/program-files.ts';
import { type FileContent, mapConcurrently } from '../workflow/workflow-files.ts';

const MAX_CONCURRENT_WRITES = 16;

/**
 * Unpacks the files of a zip or a one-file workflow, so that scripts find what lies beside them; after a resume, files that
 * have changed since are replaced, and programs that were added are removed.
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
  // A program that nobody packed is no part of the workflow.
  for (const file of Object.keys(new ProgramFiles(folder).read()))
    if (!files.has(file.slice(2))) await rm(join(folder, file), { force: true });
}
