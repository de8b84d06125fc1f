import { constants } from 'node:fs';
import { access, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { nearest } from '../core/nearest.ts';
import { isStateFile, stem } from '../core/state-names.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { explainUnreadableFile } from './invalid-workflow.ts';

/** What a path leads to. The root is the folder or zip that holds the states; all paths are absolute. */
export type WorkflowLocation =
  | { readonly kind: 'folder' | 'zip'; readonly path: string; readonly root: string }
  | { readonly kind: 'state'; readonly path: string; readonly root: string; readonly file: string };

const PATH_HINT = 'Give a folder, a .zip, or a state file (.md, .sh, .bat, .ps1).';

/** Finds out what the user named as a workflow; throws an error that says why it is none. */
export async function locateWorkflow(userPath: string): Promise<WorkflowLocation> {
  if (userPath === '') throw workflowPathError('the path of the workflow is empty');
  const path = resolve(userPath);
  const stats = await stat(path).catch(async (error: unknown) => {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error));
    if (!isMissing) throw workflowPathError(`${userPath} cannot be read: ${explainUnreadableFile(error)}`);
    const suggestion = await findSimilarSibling(path);
    throw workflowPathError(
      `there is no ${userPath}`,
      suggestion === undefined ? PATH_HINT : `Did you mean ${suggestion}?`,
    );
  });
  await access(path, stats.isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK).catch((error: unknown) => {
    throw workflowPathError(`${userPath} cannot be read: ${explainUnreadableFile(error)}`);
  });
  const file = basename(path);
  if (stats.isDirectory()) return { kind: 'folder', path, root: path };
  if (!stats.isFile()) throw workflowPathError(`${userPath} is neither a file nor a folder`);
  if (/\.zip$/i.test(file)) return { kind: 'zip', path, root: path };
  if (isStateFile(file)) return { kind: 'state', path, root: dirname(path), file };
  if (await hasZipSignature(path)) return { kind: 'zip', path, root: path };
  throw workflowPathError(`${userPath} is not a workflow`);
}

/** An error about the path itself, which the user has to correct. */
export function workflowPathError(message: string, hint = PATH_HINT): RaymondError {
  return new RaymondError(message, { exitCode: EXIT.usage, hint });
}

/** Names a run after its workflow. One of START.md is named after the folder: every workflow has a START. */
export function deriveWorkflowName({ kind, path, root }: WorkflowLocation): string {
  const file = basename(path);
  if (kind === 'zip') return file.replace(/\.zip$/i, '') || file;
  if (kind === 'folder') return file || 'workflow';
  const name = stem(file);
  return name === 'START' || name === '1_START' ? basename(root) || name : name;
}

/** Finds the sibling of a missing path that is probably meant: the same name with its ending, or one much like it. */
async function findSimilarSibling(path: string): Promise<string | undefined> {
  const [name, folder] = [basename(path), dirname(path)];
  const names = await readdir(folder).catch(() => []);
  const visible = names.filter((each) => !each.startsWith('.'));
  return visible.find((each) => stem(each) === name || each === `${name}.zip`) ?? nearest(name, visible);
}

async function hasZipSignature(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return ['PK\x03\x04', 'PK\x05\x06'].includes(buffer.toString('latin1'));
  } finally {
    await file.close();
  }
}
