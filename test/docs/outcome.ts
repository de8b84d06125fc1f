import type { Decision, ResolvedTag } from '../../src/core/answer.ts';

/** What Raymond makes of an answer, in the words of the documentation. */
export function sayVerdict(verdict: Decision): string {
  if (verdict.kind === 'wrong') return `error: ${verdict.problem.message}`;
  const headings = verdict.tags.map((heading) => `${verdict.implicit ? 'implicit: ' : ''}${sayHeading(heading)}`);
  return [...headings, ...verdict.warnings.map((warning) => `warning: ${warning}`)].join('\n');
}

function sayHeading({ tag, target: go }: ResolvedTag): string {
  if (tag === 'result') return `result: ${go.body === '' ? '(empty)' : go.body}`;
  const variables = Object.entries(go.variables).map(([name, value]) => `${name}="${value}"`);
  return [
    `${tag} ${go.body}${variables.length > 0 ? ` with ${variables.join(' ')}` : ''}`,
    go.return !== null && `return to ${go.return}`,
    go.cd !== null && `in ${go.cd}`,
    tag === 'reset' && go.stack === 'clear' && 'return stack cleared',
    go.input !== null && `input "${go.input}"`,
    go.model !== null && `model ${go.model}`,
    go.effort !== null && `effort ${go.effort}`,
    go.next !== null && `go on at ${go.next}`,
  ]
    .filter((part) => part !== false)
    .join(', ');
}
