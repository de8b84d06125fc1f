import type { Decision } from '../../src/core/answer.ts';
import type { ResolvedTag } from '../../src/core/permitted-tags.ts';

/** Describes the decision about an answer as the documentation does. */
export function describeDecision(decision: Decision): string {
  if (decision.kind === 'wrong') return `error: ${decision.problem.message}`;
  const tags = decision.tags.map((tag) => `${decision.implicit ? 'implicit: ' : ''}${describeTag(tag)}`);
  return [...tags, ...decision.warnings.map((warning) => `warning: ${warning}`)].join('\n');
}

function describeTag({ tag, target }: ResolvedTag): string {
  if (tag === 'result') return `result: ${target.body === '' ? '(empty)' : target.body}`;
  if (tag === 'ask') {
    const { timeout, timeout_next: late } = target.own;
    const otherwise = timeout === undefined ? '' : `, after ${timeout} go on at ${late}`;
    return `ask "${target.body}", go on at ${target.next} with the answer${otherwise}`;
  }
  const variables = Object.entries(target.variables).map(([name, value]) => `${name}="${value}"`);
  return [
    `${tag} ${target.body}${variables.length > 0 ? ` with ${variables.join(' ')}` : ''}`,
    target.return !== null && `return to ${target.return}`,
    target.cd !== null && `in ${target.cd}`,
    tag === 'reset' && target.stack === 'clear' && 'return stack cleared',
    target.input !== null && `input "${target.input}"`,
    target.model !== null && `model ${target.model}`,
    target.effort !== null && `effort ${target.effort}`,
    target.next !== null && `go on at ${target.next}`,
  ]
    .filter((part) => part !== false)
    .join(', ');
}
