import { dirname } from 'node:path';
import { RaymondError } from '../errors.ts';
import type { WorkflowSourceFile } from '../graph/workflow-source.ts';
import type { PolicyEntry } from '../language/policy.ts';
import { isWorkflowTag } from '../language/transitions/index.ts';
import { locateWorkflow } from '../workflow/locate.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { type LoadedSource, readLocatedSource } from '../workflow/workflow-source.ts';

/** A root with more is searched no further: what is beyond has to be named in a policy. */
const LIMITS = { maxFolders: 2_000, withZips: true };
const MAX_WORKFLOWS = 500;

/** The finding for each workflow when it was opened; several runs of a test share one. */
const found = new WeakMap<Workflow, Promise<readonly LoadedSource[]>>();

/** The workflows below the root, if a state leaves it to its answer which one to enter; otherwise nobody has to look for them. */
export function listNameableWorkflows(workflow: Workflow): Promise<readonly LoadedSource[]> {
  const known = found.get(workflow) ?? search(workflow);
  found.set(workflow, known);
  return known;
}

async function search(workflow: Workflow): Promise<readonly LoadedSource[]> {
  if (!workflow.members().some(({ source }) => source.files.some(leavesWorkflowOpen))) return [];
  const { root, entry, platform } = workflow;
  // Folders with a dot are not searched, but a workflow in one may have others beside it.
  const beside = dirname(workflow.memberOf(entry).location.root);
  const folders = [root, ...(beside === root || !beside.startsWith(root) ? [] : [beside])];
  const paths = new Set<string>();
  // Most runs need none of it.
  const { findFolders } = await import('./find-workflows.ts');
  for (const folder of folders) for (const path of (await findFolders(folder, LIMITS)).workflows) paths.add(path);
  const settings = { platform, resetStack: workflow.source.resetStack, variables: [] };
  const loaded: LoadedSource[] = [];
  for (const path of [...paths].slice(0, MAX_WORKFLOWS)) {
    try {
      loaded.push(await readLocatedSource(await locateWorkflow(path), settings));
    } catch (error) {
      // One that cannot be read cannot be entered either.
      if (!(error instanceof RaymondError)) throw error;
    }
  }
  return loaded;
}

/** True if the answer of a state may name any workflow. A state that says nothing of workflows is not asked for one. */
function leavesWorkflowOpen(file: WorkflowSourceFile): boolean {
  if (file.kind !== 'state') return false;
  const { policy } = file.state.rules;
  return policy.length === 0 ? file.text.includes('-workflow') : policy.some(isOpen);
}

const isOpen = ({ tag, target }: PolicyEntry): boolean => isWorkflowTag(tag) && target === null;
