import type { PatternMatch } from '../../language/evaluator.ts';
import { implicitTag } from '../../language/policy.ts';
import { isPrompt } from '../../language/state-names.ts';
import type { TransitionChoice } from '../../language/tags/followed-tag.ts';
import { toFollowedTag } from '../../language/tags/to-followed-tag.ts';
import { countOpenWorkers } from '../joins/join.ts';
import type { Agent, Evaluation } from '../run/agent.ts';
import type { Event, Step, Transitioned } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { findSizeProblem } from '../run/run-size.ts';
import { promptVariables } from '../run/variables.ts';
import { type AnswerContext, type Decision, interpretAnswer } from './answer.ts';
import { evaluateFrom, formatTransition, interpretVerdict, reasonOf } from './evaluation.ts';
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
