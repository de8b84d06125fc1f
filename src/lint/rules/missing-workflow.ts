import { uniqueBy } from '../../graph/group-by.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { findSpecsInRules } from '../../graph/workflow-mentions.ts';
import type { TextPosition } from '../../language/text/text-position.ts';
import { isWorkflowTag } from '../../language/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { quoteTag } from '../messages.ts';
import { defineStateRule, type LintLevel, levelForTag } from '../rule.ts';

/** A tag or a policy names a workflow that does not exist or cannot be entered, or a state that is not in it. */
export const missingWorkflow = defineStateRule(
  { id: 'missing-workflow', level: 'error', blocksStart: 'in-frontmatter', supersedes: CYCLE_RULES },
  (analysis) =>
    uniqueBy(listPaths(analysis), ({ spec }) => spec).flatMap(({ spec, at, shown, level }) => {
      const found = analysis.names.resolveSpec(spec);
      if (found === undefined || found.kind === 'found') return [];
      return [{ at, message: `${shown}: ${found.message}`, hint: HINT, level }];
    }),
);

const HINT =
  'Write the path of a folder, a .zip or a .yaml, or of a state in one of them, as it is seen from this workflow.';

/** A path of a workflow in a state's file. */
interface WrittenPath {
  readonly spec: string;
  readonly at: TextPosition;
  readonly shown: string;
  readonly level: LintLevel;
}

function listPaths(analysis: StateAnalysis): readonly WrittenPath[] {
  const inRules = findSpecsInRules(analysis.source).map(
    ({ spec, at }): WrittenPath => ({ spec, at, shown: '`target`', level: 'error' }),
  );
  const inText = analysis.expandedTags.filter(({ name, sure }) => sure && isWorkflowTag(name));
  const level = levelForTag(analysis);
  return [
    ...inRules,
    ...inText.map(({ name, tag, at }) => ({ spec: tag.body, at, shown: quoteTag(name, tag), level })),
  ];
}
