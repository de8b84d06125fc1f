import { hasUnknownPart } from '../language/tags/tag-mentions.ts';
import { isWorkflowTag } from '../language/transitions/index.ts';
import { isNameDecidedAtRuntime } from './partial-names.ts';
import { analyzeStates } from './state-analysis.ts';
import { findSpecsInRules, mayNameWorkflow, type WorkflowReference } from './workflow-mentions.ts';
import type { WorkflowSource } from './workflow-source.ts';

/** Finds the workflows that the states of a workflow name, as far as their paths are known before a run. */
export function findWorkflowReferences(source: WorkflowSource): readonly WorkflowReference[] {
  // Few states have such a tag, and only those are looked at.
  const files = source.files.filter(mayNameWorkflow);
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
