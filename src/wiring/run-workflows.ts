import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findUserConfigFolder } from '../config/user-folder.ts';
import type { Options } from '../core/options/options.ts';
import type { Run } from '../core/run/run.ts';
import { RaymondError } from '../errors.ts';
import { sourceScope, type WorkflowSource, type WorkflowSourceFile } from '../graph/workflow-source.ts';
import type { EnteredWorkflow, NamedWorkflow, NamedWorkflows } from '../language/named-workflows.ts';
import type { State } from '../language/state.ts';
import type { Scope } from '../language/state-names.ts';
import type { TurnContext, WorkflowPlace } from '../turns/turn-context.ts';
import { MANIFEST_FILE } from '../workflow/manifest.ts';
import { ProgramFiles } from '../workflow/program-files.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { type FileContent, mapConcurrently } from '../workflow/workflow-files.ts';
import type { WorkflowMember } from '../workflow/workflow-set.ts';
import { CodeGuard } from './code-guard.ts';
import { applyManifestEnvironment } from './manifest-settings.ts';

type WorkflowAccess = Pick<
  TurnContext,
  'readState' | 'readScope' | 'filesFolder' | 'scriptPath' | 'environmentOf' | 'nameWorkflows'
>;

/** How the turns of a run get to its workflow and to those that it calls. Files of zips are unpacked before they are needed. */
export function accessWorkflows(
  workflow: Workflow,
  run: Pick<Run, 'id' | 'startFolder'>,
  options: Options,
  env: NodeJS.ProcessEnv,
  runFolder: string,
): WorkflowAccess {
  const guard = new CodeGuard(workflow, run);
  const folderOf = (member: WorkflowMember): string => {
    if (member.location.kind === 'folder') return member.location.root;
    return member.name === null ? join(runFolder, 'workflow') : join(runFolder, 'workflows', member.name);
  };
  const placed = new Map<WorkflowMember, Promise<void>>();
  const place = (member: WorkflowMember): Promise<void> | undefined => {
    if (member.location.kind === 'folder') return undefined;
    const placing =
      placed.get(member) ?? workflow.readFiles(member).then((files) => placeWorkflowFiles(folderOf(member), files));
    placed.set(member, placing);
    return placing;
  };
  const ownEnvironment = applyManifestEnvironment(workflow.manifest, env, env);
  const environments = new Map<WorkflowMember, NodeJS.ProcessEnv>();
  return {
    async readState(file, use) {
      const member = workflow.memberOf(file);
      const within = (state: State): State => (member.manifest.sandbox ? { ...state, sandbox: true } : state);
      if (use === undefined) return within(await workflow.state(file));
      const state = within(await guard.read({ ...use, state: file }));
      await place(member);
      if (use.kind === 'script' && use.code !== undefined && member.location.kind !== 'folder')
        await guard.checkUnpacked(file, folderOf(member));
      return state;
    },
    readScope: createScopeReader(workflow),
    filesFolder: (state) => folderOf(workflow.memberOf(state)),
    scriptPath: workflow.pathOf,
    environmentOf(state) {
      const member = workflow.memberOf(state);
      const known = environments.get(member);
      if (known !== undefined) return known;
      // A copy: reading the whole of `process.env` is slow, and each turn does it.
      const environment =
        member.name === null ? ownEnvironment : applyManifestEnvironment(member.manifest, ownEnvironment, env);
      environments.set(member, environment);
      return environment;
    },
    nameWorkflows: (state, specs, pinned) =>
      nameWorkflows(workflow, options, state, specs, (member) => guard.permit(member, pinned)),
  };
}

/** Finds out what the workflows are that a state names; `permit` says which of them it may. */
export async function nameWorkflows(
  workflow: Workflow,
  options: Options,
  state: string,
  specs: readonly string[],
  permit: (member: WorkflowMember) => ReturnType<CodeGuard['permit']>,
): Promise<NamedWorkflows> {
  const named = specs.map(async (spec): Promise<readonly [string, NamedWorkflow]> => {
    const target = spec === '' ? null : await workflow.resolveSpec(state, spec);
    if (target === null || target.kind === 'missing') return [spec, { problem: target?.message ?? 'it is empty' }];
    const { member } = target;
    const permitted = await permit(member);
    if ('problem' in permitted) return [spec, permitted];
    const entered: EnteredWorkflow = {
      name: member.name,
      title: member.title,
      path: member.location.root,
      state: target.state,
      requiredInput: describeRequiredInput(member),
      takesNoInput: member.manifest.input.mode === 'none',
      joins: mentionsJoin(member.source),
      variables: member.name === null ? {} : ownVariables(member, workflow, options),
      ...permitted,
    };
    return [spec, entered];
  });
  return Object.fromEntries(await Promise.all(named));
}

function describeRequiredInput({ manifest: { input } }: WorkflowMember): string | null {
  return input.mode === 'required' ? (input.label ?? input.description ?? '') : null;
}

/** The variables of a called workflow's manifest, without those that the user has set for the run. */
function ownVariables(
  { manifest }: WorkflowMember,
  { manifest: runManifest }: Workflow,
  { variables: runVariables }: Options,
): Readonly<Record<string, string>> {
  const isSetByUser = (name: string): boolean =>
    Object.hasOwn(runVariables, name) && runVariables[name] !== runManifest.variables[name];
  return Object.fromEntries(Object.entries(manifest.variables).filter(([name]) => !isSetByUser(name)));
}

/**
 * Reads the list of a workflow's files. If it cannot be read just now, the last one stands in for it: an answer must
 * not be lost for that, and an agent that enters a state that is gone is paused there.
 */
function createScopeReader(workflow: Workflow): TurnContext['readScope'] {
  const lastScopes = new Map<string | null, Scope>();
  return async (state) => {
    const { name, source } = workflow.memberOf(state);
    try {
      const scope = await workflow.scope(state);
      lastScopes.set(name, scope);
      return scope;
    } catch (error) {
      if (!(error instanceof RaymondError)) throw error;
      return lastScopes.get(name) ?? sourceScope(source);
    }
  };
}

/** The folders of a run's workflows, in which no prompt may work; those in zips and in files have none. */
export const listWorkflowFolders = (workflow: Workflow): readonly string[] =>
  workflow.members().flatMap(({ location: { kind, root } }) => (kind === 'folder' ? [root] : []));

/** The workflows of a run as they are on disk. */
export const listWorkflowPlaces = (workflow: Workflow): readonly WorkflowPlace[] =>
  workflow.members().map(({ location: { kind, root }, source }) => ({
    path: root,
    files: kind === 'folder' ? [MANIFEST_FILE, ...source.files.flatMap(stateFileName)] : null,
  }));

const stateFileName = (source: WorkflowSourceFile): readonly string[] => (source.kind === 'other' ? [] : [source.file]);

/** The part of a run about the workflows that it may open. */
export const callLimitsOf = (
  options: Options,
  env: NodeJS.ProcessEnv,
  { workflows, rerunOf }: Pick<Run, 'workflows' | 'rerunOf'> = { workflows: {} },
) => ({
  overlay: rerunOf?.overlay ?? null,
  fetched: findFetchedFolder(env),
  root: options.root,
  maxDepth: options.maxDepth,
  known: workflows,
});

/** Options with the folder of all workflows as an absolute path: a resume may happen elsewhere. */
export const withAbsoluteRoot = (options: Partial<Options>, cwd: string): Partial<Options> =>
  options.root == null ? options : { ...options, root: resolve(cwd, options.root) };

const MAX_CONCURRENT_WRITES = 16;

/**
 * Unpacks the files of a zip or a one-file workflow, so that scripts find what is next to them; after a resume, files that
 * have changed since are replaced, and programs that were added are removed.
 */
async function placeWorkflowFiles(folder: string, files: ReadonlyMap<string, FileContent>): Promise<void> {
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

/** True if a state of a workflow mentions a join, or permits one: then its runs keep workers that may still be joined. */
export const mentionsJoin = ({ files }: WorkflowSource): boolean =>
  files.some(
    (file) =>
      file.kind === 'state' &&
      (/<join\b/i.test(file.state.text) || file.state.rules.policy.some(({ tag }) => tag === 'join')),
  );

/** The folder of fetched workflows; null if the environment names no home. */
export function findFetchedFolder(env: NodeJS.ProcessEnv): string | null {
  const folder = findUserConfigFolder(env);
  return folder === null ? null : join(folder, 'workflows');
}
