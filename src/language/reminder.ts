import { hasOpenState, type Policy, type PolicyEntry } from './policy.ts';
import type { AnswerProblem } from './problem.ts';
import { runsOn, type Scope } from './state-names.ts';
import { isWorkflowTag, startsWorkers, TAG_NAMES, type TagName, TRANSITIONS } from './transitions/index.ts';

/**
 * The message that asks for a valid tag in the same conversation. It never repeats the prompt. One that evaluates the answer
 * of a state may also confirm it.
 */
export function formatReminder(problem: AnswerProblem, policy: Policy, scope: Scope, evaluates = false): string {
  const permitsAll = policy.length === 0;
  // Nobody is offered to leave the workflow who did not try to.
  const tags = WORKFLOW_PROBLEMS.has(problem.kind) ? UNASKED_TAGS : UNASKED_TAGS.filter((tag) => !isWorkflowTag(tag));
  const entries = permitsAll ? tags.map((tag) => ({ tag, target: null, attributes: {} })) : policy;
  const literals = [...new Set([...(evaluates ? [CONFIRM_LITERAL] : []), ...entries.map(formatPolicyTag)])];
  const states = entries.some(hasOpenState) ? scope.files.filter((file) => runsOn(file, scope.platform)) : [];
  const forks = entries.some(({ tag }) => startsWorkers(tag)) ? FORK_NOTE : '';
  return [
    formatOpening(problem),
    `${literals.length === 1 ? 'Answer with this tag' : `Answer with exactly one of these tags`}${forks}:`,
    literals.map((each) => `    ${each}`).join('\n'),
    ...(states.length > 0 ? [`${ANY_STATE} is one of: ${states.join(', ')}`] : []),
  ].join('\n\n');
}

const WORKFLOW_PROBLEMS: ReadonlySet<AnswerProblem['kind']> = new Set([
  'bad_workflow',
  'unknown_workflow',
  'missing_input',
  'too_deep',
]);

/** Formats the tag that a policy entry permits, as an agent would write it. */
export function formatPolicyTag(entry: PolicyEntry): string {
  const { body, required } = TRANSITIONS[entry.tag];
  // The policy provides the `input` itself.
  const { input: _, ...written } = entry.attributes;
  const placeholders = required.map((name) => [name, name === 'in' ? ANY_FILE : ANY_STATE] as const);
  const attributes = { ...Object.fromEntries(placeholders), ...written };
  const attributesText = Object.entries(attributes).map(([name, value]) => ` ${name}=${quoteAttribute(value)}`);
  return `<${entry.tag}${attributesText.join('')}>${body === 'text' ? (entry.payload ?? anyText(entry.tag)) : (entry.target ?? (body === 'state' ? ANY_STATE : ANY_WORKFLOW))}</${entry.tag}>`;
}

const CONFIRM_LITERAL = '<confirm></confirm>';
/** A prompt that does not speak of people is not reminded that there are any. */
const UNASKED_TAGS = TAG_NAMES.filter((tag) => tag !== 'ask');

const ANY_STATE = 'STATE';
const ANY_WORKFLOW = 'PATH_OF_A_WORKFLOW';
const ANY_FILE = 'FILE';
const anyText = (tag: TagName): string => (tag === 'ask' ? 'your question' : 'your result');
const FORK_NOTE = ' (a <fork> may be repeated, one for each worker)';

function formatOpening(problem: AnswerProblem): string {
  if (problem.kind === 'tools_denied') {
    return `In your last turn, ${asSentence(problem.message)} Is the task of this step done anyway? If it is, say so with the tag below. If it is not, do it another way first.`;
  }
  return `The next step cannot be found in your last answer: ${asSentence(problem.message)} Your work is kept; do not do it again.`;
}

const asSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`);

const quoteAttribute = (value: string): string => (value.includes('"') ? `'${value}'` : `"${value}"`);
