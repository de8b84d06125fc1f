import type { PlacedTag, StateAnalysis } from '../graph/state-analysis.ts';
import { quoteTag } from './messages.ts';
import { defineStateRule, type LintLevel, type Rule, type RuleContext, type StateFinding } from './rule.ts';

/** A mistake in a tag; its message goes on behind the tag and a colon. */
type TagFinding = Omit<StateFinding, 'at' | 'level'>;

/** Makes a rule that looks at one tag after the other, that the agent is meant to write. */
export const defineTagRule = <const Id extends string, const Superseded extends string = never>(
  head: Omit<Rule<Id, Superseded>, 'check'>,
  check: (placed: PlacedTag, analysis: StateAnalysis, context: RuleContext) => readonly TagFinding[],
): Rule<Id, Superseded> =>
  defineStateRule(head, (analysis, context) => {
    const level = head.level === 'error' ? levelForTag(analysis) : head.level;
    return analysis.tags.flatMap((placed) => {
      const { name, tag, at, sure } = placed;
      const found = sure ? check(placed, analysis, context) : [];
      return found.map(({ message, ...rest }) => ({
        ...rest,
        at,
        message: `${quoteTag(name, tag)}: ${message}`,
        level,
      }));
    });
  });

/** The level of a mistake in a tag: in a prompt, a policy says what really happens, so that the tag only misleads. */
export const levelForTag = ({ kind, source }: StateAnalysis): LintLevel =>
  kind === 'prompt' && source.state.rules.policy.length > 0 ? 'warning' : 'error';
