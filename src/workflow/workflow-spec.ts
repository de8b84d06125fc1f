import { existsSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { RaymondError } from '../errors.ts';
import { listFoldersUp, readGitPlace } from '../git-repository.ts';
import { normalizeSpec } from '../language/named-workflows.ts';
import { isStateFile } from '../language/state-names.ts';
import { locateWorkflow, type WorkflowLocation } from './locate.ts';

/** The location that a path in a tag leads to, or why it leads to none. */
export type SpecLocation = { readonly location: WorkflowLocation } | { readonly problem: string };

/**
 * Finds the workflow that a path in a tag names, relative to the workflow that has the tag. A zip and a one-file workflow
 * stand for a folder of their name, as if they were unpacked there; what is next to them may also be named as it is.
 */
export function resolveSpecPath({ kind, root }: WorkflowLocation, written: string): string {
  const spec = normalizeSpec(written);
  if (kind === 'folder' || isAbsolute(spec) || spec.startsWith('.')) return resolve(root, spec);
  const beside = resolve(dirname(root), spec);
  const isThere = existsSync(beside) || (dirname(beside) !== dirname(root) && existsSync(dirname(beside)));
  return isThere ? beside : resolve(root, spec);
}

/** Finds out what is at the path that a tag names as `spec`. The root has its links resolved. */
export async function locateSpec(path: string, spec: string, root: string): Promise<SpecLocation> {
  const located = await locateWorkflow(path).catch((error: unknown) => {
    if (error instanceof RaymondError) return error;
    throw error;
  });
  if (!isInside(root, path)) return { problem: describeEscape(root) };
  if (located instanceof RaymondError) return { problem: await explainMissing(path, spec, located) };
  return { location: located };
}

/** Finds a workflow that a tag names by its address on the web; it must have been fetched before. */
export async function locateFetched(spec: string, folder: string | null): Promise<SpecLocation> {
  const parsed = parseWorkflowUrl(spec.trim());
  if ('problem' in parsed) return { problem: `${spec} cannot be fetched: ${parsed.problem}` };
  const path = join(folder ?? '', parsed.file);
  if (folder === null || !existsSync(path))
    return { problem: `it has not been fetched yet: \`raymond trust ${parsed.url}\` fetches and trusts it` };
  return { location: { kind: 'zip', path, root: path, state: null } };
}

const describeEscape = (root: string): string =>
  `it leads out of ${root}, where all workflows of a run must be (\`--root\` names another folder)`;

/** True if a path lies in a folder, with its links resolved as far as they exist. */
function isInside(folder: string, path: string): boolean {
  const fromFolder = relative(folder, resolveLinks(path));
  return fromFolder !== '..' && !fromFolder.startsWith(`..${sep}`) && !isAbsolute(fromFolder);
}

/** A path with its links resolved, as far as it exists. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(resolveLinks(dirname(path)), basename(path));
  }
}

/** Says what is missing: the workflow, or only the state in it. */
async function explainMissing(path: string, spec: string, { message, hint }: RaymondError): Promise<string> {
  const siblings = await readdir(dirname(path)).catch(() => null);
  const [name, folder] = [basename(path), dirname(spec)];
  if (siblings !== null && isStateFile(name)) return `there is no state \`${name}\` in ${folder}`;
  const isInWorkflow = siblings?.some(isStateFile) ?? false;
  const why = isInWorkflow
    ? `there is neither a state \`${name}\` nor a workflow of that name in ${folder}`
    : message.replaceAll(path, spec);
  const suggestion = /^Did you mean (.*)\?$/.exec(hint ?? '')?.[1];
  return suggestion === undefined ? why : `${why} (did you mean ${suggestion}?)`;
}

/** The folder that no path in a tag may leave, if the user names none: the git root, else the folder above the workflow. */
export const findWorkflowRoot = ({ kind, root }: WorkflowLocation): string =>
  listFoldersUp(kind === 'folder' ? root : dirname(root)).find((folder) => readGitPlace(folder) !== null) ??
  dirname(root);

/** A workflow on the web: a zip whose name states its SHA-256, so that nobody can exchange it. */
export interface WorkflowUrl {
  readonly url: string;
  /** The name of its file, which ends in the hash and `.zip`. */
  readonly file: string;
  readonly sha256: string;
}

/** True for a text that is meant as an address on the web and not as a path. */
export const looksLikeUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

const HASHED_ZIP = /(?:^|[-_.])([0-9a-f]{64})\.zip$/i;
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** Parses the address of a workflow, or says why it cannot be fetched. */
export function parseWorkflowUrl(text: string): WorkflowUrl | { readonly problem: string } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return { problem: 'it is not a valid address' };
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname)))
    return { problem: 'only https:// addresses are fetched' };
  if (url.username !== '' || url.password !== '') return { problem: 'it contains credentials' };
  const file = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  const sha256 = HASHED_ZIP.exec(file)?.[1]?.toLowerCase();
  if (sha256 === undefined || !/^[\w.-]+$/.test(file))
    return { problem: 'its file name must end in the SHA-256 of the zip, as in flow-SHA256.zip' };
  return { url: url.href, file, sha256 };
}
