import { nameState, workflowNameOf } from '../../language/named-workflows.ts';
import { implicitTag, type Policy, permits } from '../../language/policy.ts';
import { type AnswerProblem, answerProblem } from '../../language/problem.ts';
import { describeEvaluator, type PatternMatch } from '../../language/state.ts';
import { isPrompt, resolveState, stem } from '../../language/state-names.ts';
import { type TransitionChoice, toFollowedTag } from '../../language/tags/followed-tag.ts';
import type { ResolvedTag } from '../../language/tags/permitted-tags.ts';
import { readTags, type Tag } from '../../language/tags/tag.ts';
import { listAnswerTags } from '../../language/tags/tag-mentions.ts';
import { memoize } from '../../language/text/memoize.ts';
import { firstLine } from '../../language/text/text.ts';
import { TAG_NAMES } from '../../language/transitions/index.ts';
import { countOpenWorkers } from '../joins/join.ts';
import type { Agent, Evaluation } from '../run/agent.ts';
import type { Event, Step, Transitioned } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { promptVariables } from '../run/variables.ts';
import { type AnswerContext, type Decision, interpretAnswer } from './answer.ts';
import { type GoDecision, makeTransition, remindOrFail, toolsDeniedProblem } from './follow.ts';
import type { TurnAnswer } from './looked-up.ts';
import { failState } from './state-failure.ts';

/** Follows the tags of an answer once its evaluators have confirmed them, or asks again for a valid one. */
export function followAnswer(run: Run, agent: Agent, answer: TurnAnswer): Step {
  const step = followTags(run, agent, answer);
  const problem = findSizeProblem(answer, step);
  return problem === undefined ? step : remindOrFail(run, agent, problem, answer);
}

function followTags(run: Run, agent: Agent, answer: TurnAnswer): Step {
  if (agent.evaluation !== null) return followVerdict(run, agent, agent.evaluation, answer);
  const decision = interpretStateAnswer(run, agent, answer);
  if (decision.kind === 'wrong') {
    const { denials } = answer;
    const wereToolsDenied =
      denials.length > 0 && decision.problem.kind === 'no_tag' && implicitTag(agent.rules?.policy ?? []) !== undefined;
    return remindOrFail(run, agent, wereToolsDenied ? toolsDeniedProblem(denials) : decision.problem, answer);
  }
  return evaluateDecision(run, agent, { ...answer, decision, matches: answer.matches ?? [] }, 0);
}

/** The transition that the answer of an agent's state asks for, whatever becomes of it; empty if it asks for none. */
export function requestedTags(
  run: Run,
  agent: Agent,
  answer: TurnAnswer,
): Pick<Transitioned, 'requested' | 'implicit'> {
  const { evaluation } = agent;
  const decision = interpretStateAnswer(run, agent, evaluation === null ? answer : evaluatedAnswer(evaluation, answer));
  return decision.kind === 'go'
    ? { requested: decision.tags.map(toFollowedTag), implicit: decision.implicit }
    : { requested: [], implicit: false };
}

interface DecidedAnswer extends TurnAnswer {
  readonly decision: GoDecision;
  readonly matches: readonly PatternMatch[];
}

function answerContext(run: Run, agent: Agent, answer: TurnAnswer): AnswerContext {
  const { scope, folders, files = {}, workflows = {}, results = {}, denials } = answer;
  return {
    scope,
    folders,
    files,
    workflows,
    ...(agent.rules?.checksResult === true && { results }),
    policy: agent.rules?.policy ?? [],
    state: agent.state,
    nesting: agent.nesting,
    maxDepth: run.options.maxDepth,
    resetStack: run.options.resetStack,
    maxForks: run.options.maxForks,
    implicit: denials.length > 0 || agent.tagRequired ? 'never' : whenImplicit(agent),
    variables: promptVariables(run, agent),
    openWorkers: (group) => countOpenWorkers(run, agent.id, group),
  };
}

/** Interprets an answer of the state itself. */
function interpretStateAnswer(run: Run, agent: Agent, answer: TurnAnswer): Decision {
  const isForced = agent.rules?.forceImplicit === true && !agent.tagRequired;
  // After denied tools, a forced transition has to be said, too: nobody knows whether the work was done.
  const text = isForced && answer.denials.length > 0 ? '' : answer.text;
  return interpretAnswer(text, answerContext(run, agent, answer));
}

/** Makes the transition of a valid answer, or lets the evaluators from `index` on look at it first. */
function evaluateDecision(run: Run, agent: Agent, answer: DecidedAnswer, index: number): Step {
  const { decision, at } = answer;
  const next = evaluateFrom(index, agent, answer.matches, answerContext(run, agent, answer));
  const requested = decision.tags;
  switch (next.kind) {
    case 'confirmed':
      return makeTransition(run, agent, decision, { requested, choice: BY_ANSWER }, answer);
    case 'turn':
      return { run: withAgent(run, startEvaluation(run, agent, answer, next)), events: [] };
    case 'overridden': {
      const { decision: override, name, why } = next;
      if (override.kind === 'wrong')
        return failEvaluation(run, agent, `its evaluator ${name}: ${override.problem.message}`, at);
      return makeTransition(run, agent, override, { requested, choice: { by: 'evaluator', name, why } }, answer);
    }
    case 'failed':
      return failEvaluation(run, agent, next.message, at);
  }
}

/** Fails a state whose answer could not be evaluated. */
const failEvaluation = (run: Run, agent: Agent, message: string, at: number): Step =>
  failState(run, agent, { kind: 'script', message }, { at, jitter: 1, prompt: { kind: 'state' }, limit: null });

const BY_ANSWER: TransitionChoice = { by: 'answer', name: null, why: null };

/** The agent with the turn of an evaluator before it. What is counted for a state is counted anew for the evaluator. */
function startEvaluation(
  run: Run,
  agent: Agent,
  { text, denials, decision, matches, fingerprint }: DecidedAnswer,
  { index, file }: Pick<Evaluation, 'index' | 'file'>,
): Agent {
  const transition = formatTransition(decision.tags);
  const kept = { text, denials, ...(fingerprint && { fingerprint }) };
  const evaluation = { index, file, ...kept, transition, matches, session: null, repeatable: false };
  const count = Object.hasOwn(agent.evaluations, file) ? (agent.evaluations[file] ?? 0) : 0;
  return {
    ...agent,
    evaluation,
    evaluations: { ...agent.evaluations, [file]: count + 1 },
    tries: 0,
    reminders: 0,
    retries: 0,
    denied: [],
    phase: { kind: 'ready', prompt: { kind: 'state' }, since: run.seq },
  };
}

/** The answer that an evaluator has judged, as it can be followed now. */
const evaluatedAnswer = (
  { text, denials, fingerprint }: Evaluation,
  { scope, at, evaluated }: TurnAnswer,
): TurnAnswer => ({
  text,
  denials,
  ...(fingerprint && { fingerprint }),
  folders: {},
  ...evaluated,
  scope,
  at,
});

/** Does what an evaluator says: makes the transition of the answer, or its own, or asks it again. */
function followVerdict(run: Run, agent: Agent, evaluation: Evaluation, answer: TurnAnswer): Step {
  const verdict = interpretVerdict(answer.text, evaluation, answerContext(run, agent, answer));
  if (verdict.kind === 'wrong') return remindOrFail(run, agent, verdict.problem, answer);
  const { file: name, index, transition } = evaluation;
  const why = reasonOf(answer.text);
  const judged = verdict.kind === 'confirmed' ? 'confirmed' : 'overridden';
  const event: Event = {
    kind: 'evaluated',
    at: answer.at,
    agent: agent.id,
    state: agent.state,
    evaluator: name,
    verdict: judged,
    transition,
    why,
  };
  const done: Agent = { ...agent, evaluation: null };
  const kept = evaluatedAnswer(evaluation, answer);
  const decision = interpretStateAnswer(run, done, kept);
  const next =
    verdict.kind === 'go'
      ? makeTransition(
          run,
          done,
          verdict,
          { requested: decision.kind === 'go' ? decision.tags : [], choice: { by: 'evaluator', name, why } },
          kept,
        )
      : decision.kind === 'go'
        ? evaluateDecision(run, done, { ...kept, decision, matches: evaluation.matches }, index + 1)
        : remindOrFail(run, done, decision.problem, kept);
  return { ...next, events: [event, ...next.events] };
}

/** When an agent's only transition is taken without its tag; a script always has to say it. */
function whenImplicit({ rules, state }: Agent): AnswerContext['implicit'] {
  if (!isPrompt(state)) return 'never';
  return rules?.forceImplicit === true ? 'always' : 'without_tag';
}

/** The tag with which an evaluator lets the transition be made that the answer asks for. */
const CONFIRM_TAG = 'confirm';

/** The next step for a valid answer: all evaluators confirmed it, one needs a turn, or one decided otherwise. */
type EvaluationStep =
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'turn'; readonly index: number; readonly file: string }
  | { readonly kind: 'overridden'; readonly decision: Decision; readonly name: string; readonly why: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Goes through the evaluators of a state from `index` on. Patterns are decided already; anything else needs a turn. */
function evaluateFrom(
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
type Verdict = { readonly kind: 'confirmed' } | Decision;

/** Interprets the words of an evaluator. A script that prints no tag confirms; a prompt has to say so. */
function interpretVerdict(text: string, evaluation: Evaluation, context: AnswerContext): Verdict {
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
function reasonOf(text: string): string | null {
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
const formatTransition = (tags: readonly ResolvedTag[]): string =>
  tags.map(({ written }) => formatTag(written)).join('\n');

function formatTag({ name, attributes, body }: Tag): string {
  const pairs = Object.entries(attributes).map(([key, value]) => {
    const quote = value.includes('"') ? "'" : '"';
    return ` ${key}=${quote}${value}${quote}`;
  });
  return `<${name}${pairs.join('')}>${body}</${name}>`;
}

/** A run is saved as one JSON text, and a step of it as another; no text can have more than about 536 million characters. */
const MAX_SAVED_CHARS = 400_000_000;

/** Smaller answers do not fill a run, whose ended agents are archived. */
const MIN_LARGE_CHARS = 16 * 1024;

/** Explains why a step cannot be made: with the texts of its answer the run could not be saved any more. */
export function findSizeProblem(
  answer: TurnAnswer,
  { run, events }: Step,
  maxChars = MAX_SAVED_CHARS,
): AnswerProblem | undefined {
  if (!hasLargeText(answer)) return undefined;
  let left = maxChars;
  for (const part of [...events, ...run.agents]) {
    left -= savedChars(part);
    if (left < 0)
      return answerProblem(
        'too_large',
        `the results, inputs and variables of the run would have more than ${Math.round(maxChars / 1e6)} MB together: large texts belong in files`,
      );
  }
  return undefined;
}

const hasLargeText = ({ text, files = {} }: TurnAnswer): boolean =>
  text.length >= MIN_LARGE_CHARS ||
  Object.values(files).some((file) => 'text' in file && file.text.length >= MIN_LARGE_CHARS);

/** Agents that a step leaves alone stay the same objects, so that each is measured once. */
const savedChars = memoize((part: Agent | Step['events'][number]): number => {
  try {
    return JSON.stringify(part).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
});
