import { join, resolve } from 'node:path';
import type { EnteredWorkflow, NamedWorkflow, NamedWorkflows } from '../core/named-workflows.ts';
import type { Options } from '../core/options.ts';
import type { Run } from '../core/run.ts';
import type { Scope } from '../core/state-names.ts';
import { RaymondError } from '../errors.ts';
import { sourceScope } from '../graph/workflow-source.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { WorkflowMember } from '../workflow/workflow-set.ts';
import { applyManifestEnvironment } from './manifest-settings.ts';
import { mentionsJoin } from './mentions-join.ts';
import { placeWorkflowFiles } from './unpack-workflow.ts';

type WorkflowAccess = Pick<
  TurnContext,
  'readState' | 'readScope' | 'filesFolder' | 'scriptPath' | 'environmentOf' | 'nameWorkflows'
>;

/** How the turns of a run get to its workflow and to those that it calls. Files of zips are unpacked before they are needed. */
export async function accessWorkflows(
  workflow: Workflow,
  options: Options,
  env: NodeJS.ProcessEnv,
  runFolder: string,
): Promise<WorkflowAccess> {
  const folderOf = (member: WorkflowMember): string => {
    if (member.location.kind === 'folder') return member.location.root;
    return member.name === null ? join(runFolder, 'workflow') : join(runFolder, 'workflows', member.name);
  };
  const placed = new Set<WorkflowMember>();
  const place = async (member: WorkflowMember): Promise<void> => {
    if (placed.has(member) || member.location.kind === 'folder') return;
    placed.add(member);
    await placeWorkflowFiles(folderOf(member), await workflow.readFiles(member));
  };
  for (const member of workflow.members()) await place(member);
  const ownEnvironment = applyManifestEnvironment(workflow.manifest, env, env);
  const environments = new Map<WorkflowMember, NodeJS.ProcessEnv>();
  return {
    readState: workflow.state,
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
    async nameWorkflows(state, specs) {
      const named = await nameWorkflows(workflow, options, state, specs);
      for (const member of workflow.members()) await place(member);
      return named;
    },
  };
}

/** Finds out what the workflows are that a state names. */
export async function nameWorkflows(
  workflow: Workflow,
  options: Options,
  state: string,
  specs: readonly string[],
): Promise<NamedWorkflows> {
  const named = specs.map(async (spec): Promise<readonly [string, NamedWorkflow]> => {
    const target = spec === '' ? null : await workflow.resolveSpec(state, spec);
    if (target === null || target.kind === 'missing') return [spec, { problem: target?.message ?? 'it is empty' }];
    const { member } = target;
    const entered: EnteredWorkflow = {
      name: member.name,
      title: member.title,
      path: member.location.root,
      state: target.state,
      requiredInput: describeRequiredInput(member),
      takesNoInput: member.manifest.input.mode === 'none',
      joins: mentionsJoin(member.source),
      variables: member.name === null ? {} : ownVariables(member, workflow, options),
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

/** What a run says about the workflows that it may open. */
export const callLimitsOf = (options: Options, { workflows }: Pick<Run, 'workflows'> = { workflows: {} }) => ({
  root: options.root,
  maxDepth: options.maxDepth,
  known: workflows,
});

/** Options with the folder of all workflows as an absolute path: a resume may happen elsewhere. */
export const withAbsoluteRoot = (options: Partial<Options>, cwd: string): Partial<Options> =>
  options.root == null ? options : { ...options, root: resolve(cwd, options.root) };
