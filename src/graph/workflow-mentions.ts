import { type TextPosition, WHOLE_FILE } from '../language/text/text.ts';
import { isWorkflowTag, type WorkflowTagName } from '../language/transitions/index.ts';
import type { StateSource, WorkflowSourceFile } from './workflow-source.ts';

/** A place in a workflow that names another one. */
export interface WorkflowReference {
  readonly file: string;
  readonly at: TextPosition;
  readonly tag: WorkflowTagName;
  /** The path of the other workflow, as it is written. */
  readonly spec: string;
  /** True if it stands in a policy; a text may also only talk about it. */
  readonly inPolicy: boolean;
}

/** True if a file may name another workflow: a quick look. The text of a state in one file does not have its keys. */
export const mayNameWorkflow = (file: WorkflowSourceFile): boolean =>
  file.kind === 'state' && (file.text.includes('-workflow') || findSpecsInRules(file).length > 0);

/** The paths of workflows in the frontmatter of a state: in its policy, and in the transitions of its patterns. */
export function findSpecsInRules({
  state: { rules },
  entries,
  evaluatorPositions = [],
}: StateSource): readonly Omit<WorkflowReference, 'file' | 'inPolicy'>[] {
  const named = [
    ...rules.policy.map((entry, index) => ({ entry, positions: entries[index], key: 'target' })),
    ...(rules.evaluators ?? []).flatMap((evaluator, index) => {
      if (evaluator.kind !== 'pattern') return [];
      return { entry: evaluator.instead, positions: evaluatorPositions[index], key: 'then.target' };
    }),
  ];
  return named.flatMap(({ entry: { tag, target }, positions, key }) => {
    if (!isWorkflowTag(tag) || target === null) return [];
    return { at: positions?.keys[key] ?? positions?.at ?? WHOLE_FILE, tag, spec: target };
  });
}
