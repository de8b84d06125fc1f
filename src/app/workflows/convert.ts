import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_OPTIONS } from '../../core/options/options.ts';
import { EXIT, errorCodeOf, RaymondError } from '../../errors.ts';
import { sourceScope } from '../../graph/workflow-source.ts';
import type { FileFinding, State } from '../../language/state.ts';
import { isStateFile, type Platform } from '../../language/state-names.ts';
import { formatWorkflowFinding } from '../../workflow/invalid-workflow.ts';
import { kindByName, type WorkflowLocation } from '../../workflow/locate.ts';
import { MANIFEST_FILE } from '../../workflow/manifest.ts';
import { findStateProblems } from '../../workflow/state-file.ts';
import { mapConcurrently } from '../../workflow/workflow-files.ts';
import { type LoadedSource, readWorkflowSource } from '../../workflow/workflow-source.ts';
import {
  findOneFileObstacles,
  fitsIntoOneFile,
  splitOneFile,
  type WorkflowFileMap,
  writeOneFile,
} from '../../workflow/write-one-file.ts';
import { lintWorkflow } from './lint-workflow.ts';
import { currentPlatform } from './platform.ts';

/** How to convert a workflow. */
export interface ConvertRequest {
  readonly cwd: string;
  /** Leaves out what the target cannot hold, instead of refusing. */
  readonly lossy: boolean;
}

/** A conversion that was made: the files of the workflow, and what was left out, in words. */
export interface Conversion {
  readonly files: readonly string[];
  readonly leftOut: readonly string[];
}

/** Converts a folder, a zip or a one-file workflow into another of these, by the ending of the target's name. */
export async function convertWorkflow(from: string, to: string, { cwd, lossy }: ConvertRequest): Promise<Conversion> {
  const target = resolve(cwd, to);
  const kind = kindByName(to);
  const source = await load(resolve(cwd, from), currentPlatform());
  const { location } = source;
  if (location.state !== null) throw refusal(`${from} is a state: name its workflow, which is converted as a whole`);
  if (location.kind === kind) throw refusal(`${from} and ${to} are both ${KIND_NAMES[kind]}: copy it`);
  refuseErrors(`${from} has errors, so it is not converted`, source);
  const { files, leftOut, obstacles, problems } = await readFilesFor(kind, source);
  if (problems.length > 0) throw refusal(`${from} cannot be converted:\n${problems.join('\n')}`);
  if (![...files.keys()].some(isStateFile)) throw refusal(`${from} has no states: it is not a workflow`);
  if (obstacles.length > 0 && !lossy)
    throw refusal(
      `${from} has what ${KIND_NAMES[kind]} cannot hold: ${obstacles.join(', ')}`,
      'Move it elsewhere, or leave it out with --lossy.',
    );
  await place(target, to, async (path) => {
    if (kind === 'folder') writeFolder(path, files);
    else if (kind === 'yaml') writeFileSync(path, writeOneFile(files));
    else writeFileSync(path, (await import('../../workflow/write-zip.ts')).writeZip(files));
    await checkResult(source, path, to);
  });
  await withdrawIfBroken(from, to, cwd);
  return { files: [...files.keys()].sort(), leftOut: [...obstacles, ...leftOut] };
}

const KIND_NAMES: Readonly<Record<WorkflowLocation['kind'], string>> = {
  folder: 'a folder',
  zip: 'a zip',
  yaml: 'one file',
};

const load = (path: string, platform: Platform): Promise<LoadedSource> =>
  readWorkflowSource(path, { platform, resetStack: DEFAULT_OPTIONS.resetStack, variables: [] });

const refusal = (message: string, hint?: string): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, ...(hint !== undefined && { hint }) });

/** Refuses a workflow that cannot run: what it means is not certain. Where it starts does not matter. */
function refuseErrors(message: string, { source }: LoadedSource): void {
  const scope = sourceScope(source);
  const all = [...(source.findings ?? []), ...source.files.flatMap((file) => findStateProblems(file, scope))];
  const errors: readonly FileFinding[] = all.filter(({ level }) => level === 'error');
  if (errors.length === 0) return;
  throw new RaymondError(`${message}:\n${errors.map(formatWorkflowFinding).join('\n')}`, { exitCode: EXIT.invalid });
}

/**
 * Removes what was written if lint finds errors in it that the original does not have. Only in its place is it known which workflows
 * it reaches, and prompts may name states in a way that only the original understands.
 */
async function withdrawIfBroken(from: string, to: string, cwd: string): Promise<void> {
  const [before, after] = [await lintWorkflow(from, { cwd }), await lintWorkflow(to, { cwd })];
  const known = new Set(before.findings.map(({ message }) => message));
  const errors = after.findings.filter(({ level, message }) => level === 'error' && !known.has(message));
  if (errors.length === 0) return;
  rmSync(resolve(cwd, to), { recursive: true });
  const listed = errors.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
  throw new RaymondError(`${to} would have errors, so it is not written:\n${listed.join('\n')}`, {
    exitCode: EXIT.invalid,
  });
}

interface FilesToWrite {
  readonly files: WorkflowFileMap;
  readonly leftOut: readonly string[];
  /** The parts that the target cannot hold, and the reason why the rest cannot be written. */
  readonly obstacles: readonly string[];
  readonly problems: readonly string[];
}

async function readFilesFor(
  kind: WorkflowLocation['kind'],
  { location, files: opened }: LoadedSource,
): Promise<FilesToWrite> {
  const listed = await opened.list();
  const all = new Map(await mapConcurrently(listed, 32, async (file) => [file, await opened.read(file)] as const));
  if (location.kind === 'yaml') {
    const bodies = new Map(Array.from(all, ([file, { bytes }]) => [file, Buffer.from(bytes).toString('utf8')]));
    return { ...splitOneFile(readFileSync(location.root, 'utf8'), bodies), obstacles: [] };
  }
  const folders = location.kind === 'folder' ? listFolders(location.root) : [];
  const misfits = kind === 'yaml' ? listed.filter((file) => !fitsIntoOneFile(file)) : [];
  const files = new Map([...all].filter(([file]) => !misfits.includes(file)));
  const problems = kind === 'yaml' ? findOneFileObstacles(files) : [];
  return { files, leftOut: [], obstacles: [...misfits, ...folders], problems };
}

const listFolders = (path: string): readonly string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => `${name}/`)
    .sort();

/** Has something made beside the target, and puts it there only if that succeeds. Nothing is ever replaced. */
async function place(target: string, name: string, make: (path: string) => Promise<void>): Promise<void> {
  try {
    if (!isFree(target)) throw refusal(`${name} exists already`, 'Name another target, or remove it.');
    const workshop = mkdtempSync(join(dirname(target), '.raymond-convert-'));
    try {
      const path = join(workshop, basename(target));
      await make(path);
      renameSync(path, target);
    } finally {
      rmSync(workshop, { recursive: true, force: true });
    }
  } catch (error) {
    if (errorCodeOf(error) === '') throw error;
    throw refusal(`${name} cannot be written (${errorCodeOf(error)})`, 'The folder that it is to be in must exist.');
  }
}

/** True if there is nothing at a path, or an empty folder, which is removed. */
function isFree(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return errorCodeOf(error) === 'ENOENT';
  }
}

function writeFolder(path: string, files: WorkflowFileMap): void {
  mkdirSync(path);
  for (const [file, { bytes, executable }] of files)
    writeFileSync(join(path, file), bytes, { flag: 'wx', mode: executable ? 0o777 : 0o666 });
}

const PLATFORMS: readonly Platform[] = ['unix', 'windows'];

/** Reads what was written, and refuses it unless every state and the manifest mean the same as before. */
async function checkResult({ location }: LoadedSource, path: string, name: string): Promise<void> {
  refuseErrors(`${name} would have errors, so it is not written`, await load(path, currentPlatform()));
  for (const platform of PLATFORMS) {
    const [before, after] = [await load(location.root, platform), await load(path, platform)];
    const written = statesOf(after);
    const changed = statesOf(before).find((state, at) => !isSameState(state, written[at], after.location.kind));
    if (changed !== undefined || !isDeepStrictEqual(before.manifest, after.manifest))
      throw refusal(`${changed?.file ?? MANIFEST_FILE} would not mean the same in ${name}, so it is not written`);
  }
}

const statesOf = ({ source }: LoadedSource): readonly State[] =>
  source.files.flatMap((file) => (file.kind === 'state' ? [file.state] : []));

/** A script of a one-file workflow may get the keys beside it as comments. */
function isSameState(before: State, after: State | undefined, kind: WorkflowLocation['kind']): boolean {
  const mayDiffer = before.kind === 'script' && kind !== 'yaml';
  return isDeepStrictEqual(before, mayDiffer && after !== undefined ? { ...after, text: before.text } : after);
}
