import { hasUnknownPart } from '../core/tag-mentions.ts';
import { type TextPosition, WHOLE_FILE } from '../core/text-position.ts';
import { isWorkflowTag, type WorkflowTagName } from '../core/transitions/index.ts';
import { isNameDecidedAtRuntime } from './partial-names.ts';
import { analyzeStates } from './state-analysis.ts';
import type { WorkflowSource } from './workflow-source.ts';

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
  // Few states have such a tag, and only those are looked at.
  const files = source.files.filter((file) => file.kind === 'state' && file.text.includes('-workflow'));
  return analyzeStates({ ...source, files }).flatMap((analysis): readonly WorkflowReference[] => {
    const { file, source: stateSource } = analysis;
    const { state, entries } = stateSource;
    const inPolicy = state.rules.policy.flatMap(({ tag, target }, index) => {
      if (!isWorkflowTag(tag) || target === null) return [];
      const at = entries[index]?.keys.target ?? entries[index]?.at ?? WHOLE_FILE;
      return { file, at, tag, spec: target, inPolicy: true };
    });
    const inText = analysis.expandedTags.flatMap(({ name, tag, at, sure }) => {
      const spec = tag.body.trim();
      const isKnown = sure && spec !== '' && !hasUnknownPart(spec) && !isNameDecidedAtRuntime(spec, analysis);
      return isWorkflowTag(name) && isKnown ? { file, at, tag: name, spec, inPolicy: false } : [];
    });
    return [...inPolicy, ...inText];
  });
}
