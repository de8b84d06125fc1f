import { isAnswer } from '../../graph/control-flow.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { quoteTag } from '../messages.ts';
import { defineRule, type RuleFinding } from '../rule.ts';

/** A state shows no transition at all. */
export const noWayOut = defineRule(
  { id: 'no-way-out', level: 'warning', supersedes: ['unreachable-state'] },
  (context) => {
    const withExits = new Set(
      context.graph.edges.filter((edge) => isAnswer(edge) || edge.guard === 'no_tag').map(({ from }) => from),
    );
    return context.analyses
      .filter((analysis) => context.isIntendedState(analysis) && !analysis.open)
      .filter((analysis) => !withExits.has(analysis.file) || isSilentScript(analysis))
      .filter(({ file }) => !context.graph.mereEvaluators.has(file))
      .map(diagnoseState);
  },
);

/** True if a script prints nothing that could be a tag: a policy does not say it for a script. */
const isSilentScript = ({ kind, tags, unclosedTags, source }: StateAnalysis): boolean =>
  kind === 'script' &&
  tags.length === 0 &&
  unclosedTags.length === 0 &&
  source.state.rules.guards?.on.no_tag === undefined;

const POLICY_KEY = 'allowed_transitions';

function diagnoseState({ file, kind, positionAt, source, expandedTags }: StateAnalysis): RuleFinding {
  const at = positionAt(0);
  const [lost] = expandedTags;
  if (kind === 'script' && lost !== undefined) {
    const message = `there is no way out of ${file}: it prints ${quoteTag(lost.name, lost.tag)}, which leads to no state`;
    return { file, at: lost.at, message, hint: 'Print the name of a state of this workflow.', level: 'error' };
  }
  if (kind === 'script') {
    const hint = 'Print one tag on every path, such as <result>done</result>.';
    return { file, at, message: `there is no way out of ${file}: the script prints no tag`, hint, level: 'error' };
  }
  const why =
    source.keys[POLICY_KEY] === undefined ? 'it has no `allowed_transitions`' : 'its `allowed_transitions` are empty';
  const message = `there is no way out of ${file}: the prompt names no tag to answer with, and ${why}`;
  return { file, at, message, hint: 'Say in the prompt which tag to answer with, or give it `allowed_transitions`.' };
}
