import { dirname } from 'node:path';
import { RaymondError } from '../../errors.ts';
import { findWorkflowReferences } from '../../graph/workflow-references.ts';
import { sourceScope } from '../../graph/workflow-source.ts';
import { resolveState } from '../../language/state-names.ts';
import { findFolders } from '../../wiring/find-workflows.ts';
import { locateWorkflow } from '../../workflow/locate.ts';
import type { WorkflowMember } from '../../workflow/workflow-set.ts';
import { readLocatedSource, type SourceSettings } from '../../workflow/workflow-source.ts';
import { resolveLinks, resolveSpecPath } from '../../workflow/workflow-spec.ts';

/** Workflows that belong together are near each other: no more than these are read. */
const LIMITS = { maxFolders: 200, withZips: true };
const MAX_WORKFLOWS = 100;

/** Finds the states of a workflow that the workflows around it enter by name. */
export async function findForeignEntries(member: WorkflowMember, settings: SourceSettings): Promise<readonly string[]> {
  const root = resolveLinks(member.location.root);
  const { workflows } = await findFolders(dirname(root), LIMITS);
  const scope = sourceScope(member.source);
  const entered = new Set<string>();
  for (const path of workflows.filter((each) => resolveLinks(each) !== root).slice(0, MAX_WORKFLOWS)) {
    try {
      const { source, location } = await readLocatedSource(await locateWorkflow(path), settings);
      for (const { spec } of findWorkflowReferences(source)) {
        const target = await locateWorkflow(resolveSpecPath(location, spec)).catch(() => null);
        if (target === null || target.state === null || resolveLinks(target.root) !== root) continue;
        const resolved = resolveState(target.state, scope);
        if (resolved.kind === 'found') entered.add(resolved.file);
      }
    } catch (error) {
      // A workflow that cannot be read enters nothing.
      if (!(error instanceof RaymondError)) throw error;
    }
  }
  return [...entered];
}
