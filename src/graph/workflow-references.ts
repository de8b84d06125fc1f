import { hasUnknownPart } from '../core/tag-mentions.ts';
import { type TextPosition, WHOLE_FILE } from '../core/text-position.ts';
import { isWorkflowTag, type WorkflowTagName } from '../core/transitions/index.ts';
import { isNameDecidedAtRuntime } from './partial-names.ts';
import { analyzeStates } from './state-analysis.ts';
import type { StateSource, WorkflowSource } from './workflow-source.ts';

/** A place in a workflow that names another one. */
export interface WorkflowReference {
  readonly file: string;
  readonly at: TextPosition;
  readonly tag: WorkflowTagName;
  /** The path of the other workflow, as it is written. */
  readonly spec: string;
  /** Whether it stands in a policy; a text may also only talk about it. */
  readonly inPolicy: boolean;
}

/** Finds the workflows that the states of a workflow name, as far as their paths are known before a run. */
export function findWorkflowReferences(source: WorkflowSource): readonly WorkflowReference[] {
  // Few states have such a tag, and only those are looked at. The text of a state in one file does not have its keys.
  const files = source.files.filter(
    (file) => file.kind === 'state' && (file.text.includes('-workflow') || findSpecsInRules(file).length > 0),
  );
  return analyzeStates({ ...source, files }).flatMap((analysis): readonly WorkflowReference[] => {
    const { file } = analysis;
    const inPolicy = findSpecsInRules(analysis.source).map((named) => ({ ...named, file, inPolicy: true }));
    const inText = analysis.expandedTags.flatMap(({ name, tag, at, sure }) => {
      const spec = tag.body.trim();
      const isKnown = sure && spec !== '' && !hasUnknownPart(spec) && !isNameDecidedAtRuntime(spec, analysis);
      return isWorkflowTag(name) && isKnown ? { file, at, tag: name, spec, inPolicy: false } : [];
    });
    return [...inPolicy, ...inText];
  });
}

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
