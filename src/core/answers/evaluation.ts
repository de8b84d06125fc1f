import { describeEvaluator, type PatternMatch } from '../../language/evaluator.ts';
import { nameState, workflowNameOf } from '../../language/named-workflows.ts';
import { implicitTag, type Policy, permits } from '../../language/policy.ts';
import { answerProblem } from '../../language/problem.ts';
import { isPrompt, resolveState, stem } from '../../language/state-names.ts';
import type { ResolvedTag } from '../../language/tags/permitted-tags.ts';
import { readTags, type Tag } from '../../language/tags/tag.ts';
import { listAnswerTags } from '../../language/tags/tag-quotes.ts';
import { firstLine } from '../../language/text/text.ts';
import { TAG_NAMES } from '../../language/transitions/index.ts';
import type { Agent, Evaluation } from '../run/agent.ts';
import { type AnswerContext, type Decision, interpretAnswer } from './answer.ts';

/** The tag with which an evaluator lets the transition be made that the answer asks for. */
const CONFIRM_TAG = 'confirm';

/** The next step for a valid answer: all evaluators confirmed it, one needs a turn, or one decided otherwise. */
export type EvaluationStep =
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'turn'; readonly index: number; readonly file: string }
  | { readonly kind: 'overridden'; readonly decision: Decision; readonly name: string; readonly why: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Goes through the evaluators of a state from `index` on. Patterns are decided already; anything else needs a turn. */
export function evaluateFrom(
  index: number,
  { rules }: Pick<Agent, 'rules'>,
  matches: readonly PatternMatch[],
  context: AnswerContext,
): EvaluationStep {
  const evaluators = rules?.evaluators ?? [];
  for (let i = index; i < evaluators.length; i++) {
    const evaluator = evaluators[i];
    if (evaluator === undefined) break;
    if (evaluator.kind !== 'pattern') return { kind: 'turn', index: i, file: evaluatorFile(evaluator, context) };
    const name = describeEvaluator(evaluator);
    const match = matches[i] ?? 'timeout';
    if (match === 'timeout')
      return { kind: 'failed', message: `its evaluator ${name}: the pattern took too long over the answer` };
    if (match === (evaluator.overridesOn === 'match')) {
      const why = match ? 'the answer matches' : 'the answer does not match';
      return { kind: 'overridden', decision: interpretOverride(evaluator.instead, context), name, why };
    }
  }
  return { kind: 'confirmed' };
}

/** The file of an evaluator. One that is not there any more is given its likely name: its turn says that it is missing. */
function evaluatorFile(
  { kind, file }: { readonly kind: 'script' | 'prompt'; readonly file: string },
  { scope, state }: Pick<AnswerContext, 'scope' | 'state'>,
): string {
  const workflow = workflowNameOf(state);
  const found = resolveState(file, scope);
  if (found.kind === 'found' && isPrompt(found.file) === (kind === 'prompt')) return nameState(workflow, found.file);
  if (kind === 'prompt') return nameState(workflow, `${stem(file)}.md`);
  return nameState(workflow, isPrompt(file) || stem(file) === file ? `${stem(file)}.sh` : file);
}

/** Reads the transition that a pattern takes as if an answer had asked for it. */
function interpretOverride(instead: Policy[number], context: AnswerContext): Decision {
  const decision = interpretAnswer('', { ...context, policy: [instead], implicit: 'always' });
  const tag = implicitTag([instead]);
  if (decision.kind === 'wrong') return decision;
  if (tag === undefined || permits(context.policy, tag, context.scope)) return { ...decision, implicit: false };
  return { kind: 'wrong', problem: answerProblem('not_permitted', `${formatTag(tag)} is not permitted here`) };
}

/** The verdict of an evaluator: confirm, take another transition, or unreadable. */
export type Verdict = { readonly kind: 'confirmed' } | Decision;

/** Interprets the words of an evaluator. A script that prints no tag confirms; a prompt has to say so. */
export function interpretVerdict(text: string, evaluation: Evaluation, context: AnswerContext): Verdict {
  const reading = readTags(text, [...TAG_NAMES, CONFIRM_TAG]);
  if (reading.kind === 'unclosed') return { kind: 'wrong', problem: answerProblem('unclosed_tag', reading.message) };
  const { tags } = reading;
  if (tags.length === 0 && !isPrompt(evaluation.file)) return { kind: 'confirmed' };
  if (!tags.some(({ name }) => name === CONFIRM_TAG)) return interpretAnswer(text, { ...context, implicit: 'never' });
  const others = tags.filter(({ name }) => name !== CONFIRM_TAG);
  if (others.length === 0) return { kind: 'confirmed' };
  const message = `it confirms and overrides: found ${listAnswerTags(tags)}`;
  return { kind: 'wrong', problem: answerProblem('several_tags', message) };
}

/** The first words of an evaluator about its verdict: those in `<confirm>`, else its first line without a tag. */
export function reasonOf(text: string): string | null {
  const reading = readTags(text, [CONFIRM_TAG]);
  const confirmed = reading.kind === 'tags' ? (reading.tags[0]?.body ?? '') : '';
  const line =
    firstLine(confirmed) || (text.split('\n').find((each) => each.trim() !== '' && !each.includes('<')) ?? '');
  return line.trim() === '' ? null : shortenReason(line.trim());
}

const MAX_REASON_LENGTH = 200;

const shortenReason = (line: string): string =>
  line.length > MAX_REASON_LENGTH ? `${line.slice(0, MAX_REASON_LENGTH)}…` : line;

/** The tags of a transition as a text, one per line. */
export const formatTransition = (tags: readonly ResolvedTag[]): string =>
  tags.map(({ written }) => formatTag(written)).join('\n');

function formatTag({ name, attributes, body }: Tag): string {
  const pairs = Object.entries(attributes).map(([key, value]) => {
    const quote = value.includes('"') ? "'" : '"';
    return ` ${key}=${quote}${value}${quote}`;
  });
  return `<${name}${pairs.join('')}>${body}</${name}>`;
}
