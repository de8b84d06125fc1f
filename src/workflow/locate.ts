import { constants } from 'node:fs';
import { access, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { isStateFile, stem } from '../language/state-names.ts';
import { nearest } from '../language/text/nearest.ts';
import { explainUnreadableFile } from './invalid-workflow.ts';

/**
 * The target of a path. The root is the folder, zip or one-file workflow that holds the states; the state is the one that
 * the path names to start in. All paths are absolute.
 */
export interface WorkflowLocation {
  readonly kind: 'folder' | 'zip' | 'yaml';
  readonly path: string;
  readonly root: string;
  readonly state: string | null;
}

const PATH_HINT = 'Give a folder, a .zip, a .yaml, or a state in one of them (.md, .sh, .bat, .ps1).';

/** Finds out what the user named as a workflow; throws an error that says why it is none. */
export async function locateWorkflow(userPath: string): Promise<WorkflowLocation> {
  if (userPath === '') throw workflowPathError('the path of the workflow is empty');
  const path = resolve(userPath);
  const stats = await stat(path).catch(async (error: unknown) => {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error));
    if (isMissing && (await isStateIn(dirname(path), basename(path)))) return null;
    if (!isMissing) throw workflowPathError(`${userPath} cannot be read: ${explainUnreadableFile(error)}`);
    const suggestion = await findSimilarSibling(path);
    throw workflowPathError(
      `there is no ${userPath}`,
      suggestion === undefined ? PATH_HINT : `Did you mean ${suggestion}?`,
    );
  });
  if (stats === null) return { ...(await locateWorkflow(dirname(path))), path, state: basename(path) };
  await access(path, stats.isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK).catch((error: unknown) => {
    throw workflowPathError(`${userPath} cannot be read: ${explainUnreadableFile(error)}`);
  });
  const file = basename(path);
  if (stats.isDirectory()) return { kind: 'folder', path, root: path, state: null };
  if (!stats.isFile()) throw workflowPathError(`${userPath} is neither a file nor a folder`);
  if (kindByName(file) === 'yaml') return { kind: 'yaml', path, root: path, state: null };
  if (isStateFile(file)) return { kind: 'folder', path, root: dirname(path), state: file };
  if (kindByName(file) === 'zip' || (await hasZipSignature(path)))
    return { kind: 'zip', path, root: path, state: null };
  if (await isStateIn(dirname(path), file)) return { kind: 'folder', path, root: dirname(path), state: file };
  throw workflowPathError(`${userPath} is not a workflow`);
}

const ZIP = /\.zip$/i;
const ONE_FILE = /\.ya?ml$/i;

/** The kind of workflow that a path names by its ending: a folder has none. */
export const kindByName = (path: string): WorkflowLocation['kind'] =>
  ZIP.test(path) ? 'zip' : ONE_FILE.test(path) ? 'yaml' : 'folder';

/** True if a path that does not exist can mean a state: in a zip or a one-file workflow, or without its extension. */
async function isStateIn(root: string, name: string): Promise<boolean> {
  const stats = await stat(root).catch(() => null);
  if (stats === null) return false;
  if (stats.isFile()) return kindByName(root) !== 'folder';
  const names = await readdir(root).catch(() => []);
  return names.some((each) => isStateFile(each) && stem(each) === name);
}

/** An error about the path itself, which the user has to correct. */
export function workflowPathError(message: string, hint = PATH_HINT): RaymondError {
  return new RaymondError(message, { exitCode: EXIT.usage, hint });
}

/** Names a run after its workflow. One of START.md is named after the folder: every workflow has a START. */
export function deriveWorkflowName(location: WorkflowLocation): string {
  const { state } = location;
  const name = state === null ? 'START' : stem(state);
  if (name !== 'START' && name !== '1_START') return name;
  return containerName(location) || (state === null ? 'workflow' : name);
}

/** Names a workflow after its folder, zip or file, whichever state it starts in. */
export const nameCalledWorkflow = (location: WorkflowLocation): string =>
  containerName(location).replace(/[-_.]?[0-9a-f]{64}/i, '') || 'workflow';

function containerName({ kind, root }: WorkflowLocation): string {
  const file = basename(root);
  return kind === 'folder' ? file : file.replace(kind === 'zip' ? ZIP : ONE_FILE, '') || file;
}

/** Finds the sibling of a missing path that is probably meant: the same name with its ending, or one much like it. */
async function findSimilarSibling(path: string): Promise<string | undefined> {
  const [name, folder] = [basename(path), dirname(path)];
  const names = await readdir(folder).catch(() => []);
  const visible = names.filter((each) => !each.startsWith('.'));
  return (
    visible.find((each) => stem(each) === name || [`${name}.zip`, `${name}.yaml`, `${name}.yml`].includes(each)) ??
    nearest(name, [...visible, ...visible.filter(isStateFile).map(stem)])
  );
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
