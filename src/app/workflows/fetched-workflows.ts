import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskError, makePrivateFolder, replaceFile } from '../../disk/files.ts';
import { EXIT, errorMessageOf, RaymondError } from '../../errors.ts';
import { findFetchedFolder } from '../../wiring/run-workflows.ts';
import { parseWorkflowUrl, type WorkflowUrl } from '../../workflow/workflow-spec.ts';

/*
 * A workflow from the web is fetched once, when a person says so, and kept in the user's own folder. Being there means being
 * trusted: nothing else writes there, and its content is compared with the hash in its name whenever it is read.
 */

const MAX_BYTES = 80 * 1024 * 1024;
const TIMEOUT_MS = 120_000;
const MAX_REDIRECTS = 5;

/** Parses an address that a person named; throws if it cannot be fetched. */
export function requireWorkflowUrl(text: string): WorkflowUrl {
  const parsed = parseWorkflowUrl(text);
  if (!('problem' in parsed)) return parsed;
  throw new RaymondError(`${text} cannot be fetched: ${parsed.problem}`, {
    exitCode: EXIT.usage,
    hint: 'Rename the zip to NAME-SHA256.zip with the hash that `sha256sum` prints, or download it and name the file.',
  });
}

/** The path of a workflow that was fetched; null if it was not. */
export function findFetchedWorkflow({ file }: WorkflowUrl, env: NodeJS.ProcessEnv): string | null {
  const folder = findFetchedFolder(env);
  const path = folder === null ? null : join(folder, file);
  return path !== null && existsSync(path) ? path : null;
}

/** The names of all workflows that were fetched. */
export function listFetchedWorkflows(env: NodeJS.ProcessEnv): readonly string[] {
  const folder = findFetchedFolder(env);
  if (folder === null || !existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => name.endsWith('.zip'));
}

/** Removes a workflow that was fetched. */
export async function removeFetchedWorkflow(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = findFetchedFolder(env);
  if (folder !== null) await rm(join(folder, file), { force: true });
}

/** Fetches a workflow, compares it with its hash and keeps it; returns its path. */
export async function fetchWorkflow(workflow: WorkflowUrl, env: NodeJS.ProcessEnv): Promise<string> {
  const folder = findFetchedFolder(env);
  if (folder === null)
    throw new RaymondError('There is no place to keep fetched workflows: HOME is not set.', {
      exitCode: EXIT.usage,
      hint: 'Set HOME or XDG_CONFIG_HOME, then try again.',
    });
  const bytes = await download(workflow.url).catch((error: unknown) => {
    if (error instanceof RaymondError) throw error;
    throw fetchError(workflow.url, describeCause(error));
  });
  const hash = createHash('sha256').update(bytes).digest('hex');
  if (hash !== workflow.sha256)
    throw fetchError(workflow.url, `its content has the SHA-256 ${hash}, not the one in its name`);
  const path = join(folder, workflow.file);
  await makePrivateFolder(folder);
  await replaceFile(path, bytes).catch((cause: unknown) => {
    throw diskError(`${path} cannot be written`, cause, 'then try again.');
  });
  return path;
}

async function download(url: string): Promise<Buffer> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let target = url;
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(target, { redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      if (redirects === MAX_REDIRECTS) throw fetchError(url, 'it redirects too often');
      const next = new URL(location, target);
      if (next.protocol !== new URL(target).protocol) throw fetchError(url, `it redirects to ${next.protocol}//`);
      target = next.href;
      continue;
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw fetchError(url, `the server answered ${response.status}`);
    }
    return readBody(url, response);
  }
}

async function readBody(url: string, { body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw fetchError(url, `it is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const fetchError = (url: string, why: string): RaymondError =>
  new RaymondError(`${url} was not fetched: ${why}`, {
    exitCode: EXIT.usage,
    hint: 'Check the address, or download the file and name its path.',
  });

/** `fetch` hides why it failed in the cause. */
function describeCause(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'the server took too long';
  return error instanceof Error && error.cause !== undefined ? errorMessageOf(error.cause) : errorMessageOf(error);
}
