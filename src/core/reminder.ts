import { runsOn, type Scope } from './names.ts';
import { leavesOpen, type Policy, type PolicyEntry } from './policy.ts';
import type { Problem } from './problem.ts';
import { TAG_NAMES, TRANSITIONS } from './transitions/index.ts';

/** The short message that asks for a proper tag in the same conversation. It never repeats the prompt. */
export function reminder(problem: Problem, policy: Policy, scope: Scope): string {
  const free = policy.length === 0;
  const entries = free ? TAG_NAMES.map((tag) => ({ tag, target: null, attributes: {} })) : policy;
  const literals = [...new Set(entries.map(literalTag))];
  const states = entries.some(leavesOpen) ? scope.files.filter((file) => runsOn(file, scope.platform)) : [];
  const forks = entries.some((entry) => entry.tag === 'fork') ? FORK_NOTE : '';
  return [
    opening(problem),
    `${literals.length === 1 ? 'Answer with this tag' : `Answer with exactly one of these tags`}${forks}:`,
    literals.map((each) => `    ${each}`).join('\n'),
    ...(states.length > 0 ? [`${ANY_STATE} is one of: ${states.join(', ')}`] : []),
  ].join('\n\n');
}

/** The tag that an entry permits, as an agent would write it. */
export function literalTag(entry: PolicyEntry): string {
  const { body, required } = TRANSITIONS[entry.tag];
  const attributes = { ...Object.fromEntries(required.map((name) => [name, ANY_STATE])), ...entry.attributes };
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}=${quoted(value)}`);
  return `<${entry.tag}${written.join('')}>${body === 'text' ? ANY_TEXT : (entry.target ?? ANY_STATE)}</${entry.tag}>`;
}

const ANY_STATE = 'STATE';
const ANY_TEXT = 'your result';
const FORK_NOTE = ' (a <fork> may be repeated, one for each worker)';

function opening(problem: Problem): string {
  if (problem.kind === 'tools_denied') {
    return `In your last turn, ${sentence(problem.message)} Is the task of this step done all the same? If it is, say so with the tag below. If it is not, do it another way first.`;
  }
  return `The next step cannot be found in your last answer: ${sentence(problem.message)} Your work is kept; do not do it again.`;
}

const sentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`);

const quoted = (value: string): string => (value.includes('"') ? `'${value}'` : `"${value}"`);
