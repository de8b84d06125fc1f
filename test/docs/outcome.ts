import type { Decision } from '../../src/core/answers/answer.ts';
import type { ResolvedTag } from '../../src/language/tags/permitted-tags.ts';
import type { JoinTerms } from '../../src/language/transitions/transition.ts';

/** Describes the decision about an answer as the documentation does. */
export function describeDecision(decision: Decision): string {
  if (decision.kind === 'wrong') return `error: ${decision.problem.message}`;
  const described = decision.tags.flatMap((tag) => expandItems(tag).map(describeTag));
  const tags = described.map((text) => `${decision.implicit ? 'implicit: ' : ''}${text}`);
  return [...tags, ...decision.warnings.map((warning) => `warning: ${warning}`)].join('\n');
}

/** A `fork-each` as one tag for each worker that it starts. */
function expandItems(tag: ResolvedTag): readonly ResolvedTag[] {
  const { target } = tag;
  if (target.items === null) return [tag];
  return target.items.map(({ variables, input }) => {
    return { ...tag, target: { ...target, input, variables: { ...variables, ...target.variables }, items: null } };
  });
}

function describeJoin({ wait, group, cancel, timeoutMs, timeoutNext }: JoinTerms): string {
  const which = `${wait === 'all' ? 'all workers' : wait === 1 ? '1 worker' : `${wait} workers`}${group === null ? '' : ` of the group ${group}`}`;
  const late = timeoutMs === null ? '' : `, or ${timeoutNext} after ${timeoutMs / 1000} s`;
  return `when ${which} ${wait === 1 ? 'is' : 'are'} done${cancel ? ', the others are ended' : ''}${late}`;
}

function describeTag({ tag, target }: ResolvedTag): string {
  if (tag === 'result') return `result: ${target.body === '' ? '(empty)' : target.body}`;
  if (tag === 'ask') {
    const { timeout, timeout_next: late } = target.own;
    const otherwise = timeout === undefined ? '' : `, after ${timeout} continue at ${late}`;
    return `ask "${target.body}", continue at ${target.next} with the answer${otherwise}`;
  }
  const variables = Object.entries(target.variables).map(([name, value]) => `${name}="${value}"`);
  return [
    `${tag} ${target.body}${variables.length > 0 ? ` with ${variables.join(', ')}` : ''}`,
    target.return !== null && `return to ${target.return}`,
    target.cd !== null && `in ${target.cd}`,
    tag === 'reset' && target.stack === 'clear' && 'return stack cleared',
    target.input !== null && `input "${target.input}"`,
    target.model !== null && `model ${target.model}`,
    target.effort !== null && `effort ${target.effort}`,
    target.next !== null && `continue at ${target.next}`,
    target.join !== null && describeJoin(target.join),
  ]
    .filter((part) => part !== false)
    .join(', ');
}
