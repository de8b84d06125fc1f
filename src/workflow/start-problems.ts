import { sourceScope, type WorkflowSource } from '../graph/workflow-source.ts';
import type { FileFinding } from '../language/state.ts';
import { isErrorFinding } from '../yaml/finding-report.ts';
import { invalidWorkflowFile } from './invalid-workflow.ts';
import { findStateProblems } from './state-file.ts';
import { prefixFindings, type ResolvedReference, type WorkflowMember, type WorkflowSet } from './workflow-set.ts';

/**
 * Lists what is wrong with a workflow and those that it calls: an error keeps a run from starting. A run refuses what this
 * finds, and lint reports it, so that the two cannot disagree.
 */
export async function findStartProblems(
  set: WorkflowSet,
  merged: WorkflowSource,
  maxDepth: number | null,
): Promise<readonly FileFinding[]> {
  const { source, files } = set.first;
  const { entry } = source;
  const hasErrors = source.findings?.some(isErrorFinding) ?? false;
  return [
    // Without states the reason for that is enough.
    ...(entry.kind === 'found' || (hasErrors && source.files.length === 0)
      ? []
      : invalidWorkflowFile(files.name, entry.message).findings),
    ...set.members.flatMap((member) => prefixFindings(member, findMemberProblems(member))),
    ...findReferenceProblems(set, maxDepth),
    ...(set.references.some(({ inPolicy }) => inPolicy)
      ? (await import('./endless-nesting.ts')).findEndlessNesting(merged)
      : []),
  ];
}

/** Lists what is wrong with a workflow by itself. */
function findMemberProblems({ source }: WorkflowMember): readonly FileFinding[] {
  const scope = sourceScope(source);
  return [...(source.findings ?? []), ...source.files.flatMap((file) => findStateProblems(file, scope))];
}

/** Lists the policies that name a workflow which cannot be entered. A text may name one only to talk about it. */
function findReferenceProblems(set: WorkflowSet, maxDepth: number | null): readonly FileFinding[] {
  const depths = set.findDepths();
  return set.references.flatMap((reference): readonly FileFinding[] => {
    const { file, at, from, inPolicy } = reference;
    const problem = inPolicy ? explainReference(reference, depths, maxDepth) : undefined;
    if (problem === undefined) return [];
    const finding = {
      level: 'error',
      file: reportedFile(from, file),
      ...at,
      message: `\`target\`: ${problem}`,
    } as const;
    return prefixFindings(from, [finding]);
  });
}

function explainReference(
  { target, tag, spec, from }: ResolvedReference,
  depths: ReadonlyMap<WorkflowMember, number>,
  maxDepth: number | null,
): string | undefined {
  if (target.kind === 'missing') return target.message.includes(spec) ? target.message : `${spec}: ${target.message}`;
  const around = (depths.get(from) ?? 0) + (tag === 'reset-workflow' ? 0 : 1);
  if (maxDepth === null || around <= maxDepth) return undefined;
  return `${spec} would be nested in ${around} workflows, and at most ${maxDepth} are allowed (\`max_depth\`)`;
}

/** The file that findings about a state name: that of a one-file workflow itself, for its states. */
const reportedFile = ({ location, files }: WorkflowMember, file: string): string =>
  location.kind === 'yaml' ? files.name : file;
