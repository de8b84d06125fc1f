import { join } from 'node:path';
import type { AnswerDef } from '../case.ts';
import type { Observation } from '../observation.ts';
import { formatAnswer } from '../write-case.ts';
import { cancelText, endAgent, expectEnd } from './joins.ts';
import type { ModelAgent } from './model-agent.ts';
import { compare, expect, Mismatch, note, type RunModel } from './run-model.ts';
import { failState, followAnswer, takeGuard } from './transitions.ts';

/** How often a turn is tried again after a temporary failure. */
const RETRIES = 3;

const FAILURES: Readonly<Record<string, string>> = { overloaded: 'transient' };

/** Only an answer that costs more can be stopped at its share of the budget. */
const SHARED_COST = 1_000;

/** A turn ends: enters its cost, and finds out what has to follow. */
export function finishTurn(model: RunModel, agent: ModelAgent, observed: Observation): void {
  if (agent.phase !== 'running' && agent.phase !== 'cancelling') throw new Mismatch(`it is ${agent.phase}`);
  const isPrompt = agent.turnSession !== null;
  const answer = agent.running === 'compact' ? null : model.answerOf(agent);
  const interruption = agent.interruption?.turn === agent.turns ? agent.interruption : null;
  const isKilled = observed.failure === 'stopped' && mayBeKilled(model);
  const isInterrupted = agent.phase === 'cancelling' || interruption !== null || isKilled;
  const cost = Number(observed.costMicros);
  const due = !isPrompt ? 0 : answer === null ? summaryOf(model, agent).cost : answer.cost - agent.paid;
  const isShare = !isInterrupted && observed.failure === 'budget';
  const failure = answer === null ? null : failureOf(answer, isPrompt);
  // What a turn that was ended has cost is an estimate.
  if (isInterrupted && (answer?.cost ?? 0) > SHARED_COST) agent.isPaidInPart = true;
  if (!isInterrupted && !isShare && cost !== due && !(agent.isPaidInPart && cost < due))
    throw new Mismatch(`it should cost ${due}, but costs ${cost}`);
  if (isShare && (model.budget === null || (cost >= due && !agent.isPaidInPart)))
    throw new Mismatch('it should not be stopped at a share of the budget');
  if (observed.failure === 'lost' && isRealScript(model, agent)) {
    // Its process had not been started when Raymond crashed: the turn is taken once more.
    agent.phase = 'ready';
    return;
  }
  if (observed.failure === 'interrupted' && isRealScript(model, agent) && mayBeKilled(model)) {
    note(agent, 'kill');
    agent.needsRetry = true;
    expect(agent, 'agent_paused', { why: 'interrupted' }, () => {
      agent.phase = 'paused';
    });
    return;
  }
  if (!isInterrupted && !isShare) {
    compare({ failure }, observed, 'the end of the turn');
    checkPrints(model, agent, answer);
  }
  const wasOver = model.isOverBudget();
  if (isPrompt) {
    model.spent += cost;
    model.turns += 1;
    agent.cost += cost;
    agent.stateCost += cost;
  }
  compare({ turn: agent.turns, spentMicros: model.spent }, observed, 'the end of the turn');
  if (!wasOver && model.isOverBudget()) {
    note(agent, 'budget');
    model.stopFor('budget');
    model.expected.push({ kind: 'run_stopping', fields: { stop: { kind: 'budget' } } });
  }
  const isKept = isPrompt && observed.failure !== 'session_lost' && !(isKilled && answer?.fail === 'session_lost');
  noteWrites(model, agent, answer, !isInterrupted && observed.failure === null, isShare);
  if (!isInterrupted && !isShare && answer !== null) checkQuota(model, agent, answer);
  if (isKept && agent.turnSession !== null)
    model.setSession(agent, { kind: 'open', id: agent.turnSession.id, compact: false });
  if (isPrompt)
    agent.messages = agent.messages.flatMap((each) =>
      each.turn !== agent.turns ? [each] : isKept ? [] : [{ ...each, turn: null }],
    );
  agent.interruption = null;
  if (answer !== null && answer.deny.length > 0 && observed.failure === null) agent.wasDenied = true;
  if (agent.phase === 'cancelling') {
    expectEnd(agent, 'agent_cancelled', {}, ({ by }) => endAgent(model, agent, 'cancelled', cancelText(by)));
    return;
  }
  if (interruption !== null) {
    continueOtherwise(agent, interruption, isKept);
    return;
  }
  if (isKilled) {
    note(agent, 'kill');
    const { running } = agent;
    const hasBegun = answer !== null && hasSaid(answer, running) && isPrompt;
    Object.assign(agent, { phase: 'ready', prompt: hasBegun ? 'continue' : running === 'compact' ? 'state' : running });
    return;
  }
  if (isShare) {
    agent.paid += cost;
    agent.stops += 1;
    Object.assign(agent, { phase: 'ready', prompt: agent.running === 'said' ? 'continue' : agent.running });
    return;
  }
  if (answer === null) {
    note(agent, 'compact');
    if (summaryOf(model, agent).fails) agent.warnings.push('no-summary');
    Object.assign(agent, { phase: 'ready', prompt: 'state', tries: 0, retries: 0 });
    return;
  }
  agent.paid = 0;
  agent.isPaidInPart = false;
  if (failure !== null) {
    failTurn(model, agent, failure, answer);
    return;
  }
  if (!model.isOverBudget()) {
    followAnswer(model, agent, answer);
    return;
  }
  agent.kept = answer;
  agent.phase = 'withheld';
  expect(agent, 'answer_withheld', { costMicros: agent.stateCost });
}

const mayBeKilled = ({ subject }: RunModel): boolean => subject.stops.some(({ how }) => how === 'kill');

const isRealScript = (model: RunModel, agent: ModelAgent): boolean => model.def(model.fileOf(agent)).real !== null;

/** The summary before the first turn of a visit is canned with it. */
function summaryOf(model: RunModel, agent: ModelAgent): AnswerDef['summary'] {
  const visit = (agent.visits.get(agent.state) ?? 0) + (agent.isEntered ? 0 : 1);
  return model.def(agent.state).answers[visit - 1]?.[0]?.summary ?? { cost: 0, fails: false };
}

function failureOf({ fail, exit }: AnswerDef, isPrompt: boolean): string | null {
  if (fail !== null) return FAILURES[fail] ?? fail;
  return !isPrompt && exit !== 0 ? 'script' : null;
}

function checkPrints(model: RunModel, agent: ModelAgent, answer: AnswerDef | null): void {
  // A real script has filled in what it prints itself.
  const isReal = model.def(model.fileOf(agent)).real !== null;
  const prints = (answer?.prints ?? []).map((each) => (isReal ? each : model.render(agent, each)).trim());
  compare({ prints }, { prints: agent.prints }, 'the turn');
}

/** A person has interrupted the turn: the agent continues with what was said, or asks. */
function continueOtherwise(
  agent: ModelAgent,
  { id, text }: { readonly id: string; readonly text: string | null },
  isKept: boolean,
): void {
  const prompt = isKept ? 'said' : agent.running === 'compact' ? 'state' : agent.running;
  if (text !== null) {
    agent.messages.push({ id, text, turn: null });
    Object.assign(agent, { phase: 'ready', prompt });
    return;
  }
  agent.phase = 'asking';
  expect(agent, 'asked', { state: agent.state }, ({ ask }) => {
    const none = { next: '', timeoutNext: null, untilMs: null, implicit: false, by: 'answer' } as const;
    agent.question = { id: String(ask), ...none, tag: { tag: 'ask', target: '', attributes: {} }, interrupted: prompt };
  });
}

/** True if the conversation has something of the answer, so that the agent is only told to continue. */
const hasSaid = (answer: AnswerDef, running: ModelAgent['running']): boolean =>
  answer.deny.length > 0 || Object.keys(answer.writes).length > 0 || formatAnswer(answer) !== '' || running === 'said';

/** Remembers which files a turn has written; one that was ended early may have. */
function noteWrites(
  model: RunModel,
  agent: ModelAgent,
  answer: AnswerDef | null,
  isSure: boolean,
  isShare: boolean,
): void {
  if (isShare) return;
  for (const name of Object.keys(answer?.writes ?? {})) model.written.push({ path: join(agent.cwd, name), isSure });
}

/** What an answer says about the subscription is known when its turn ends, unless another turn has said something else meanwhile. */
function checkQuota(model: RunModel, agent: ModelAgent, { quota }: AnswerDef): void {
  if (quota === null || agent.turnSession === null) return;
  // Of two reports in one millisecond, the higher one counts.
  if ((model.quota?.percent ?? 0) > quota) return;
  if (model.quotaReports === agent.quotaReports && model.quota?.percent !== quota)
    throw new Mismatch(`${quota} % of the subscription should be known as used`);
}

/** What follows when a turn failed. The same prompt comes again, unless the answer had begun. */
function failTurn(model: RunModel, agent: ModelAgent, failure: string, answer: AnswerDef): void {
  const hasBegun = hasSaid(answer, agent.running);
  const prompt =
    hasBegun && agent.turnSession !== null ? 'continue' : agent.running === 'compact' ? 'state' : agent.running;
  const pause = (): void => {
    Object.assign(agent, { prompt });
    expect(agent, 'agent_paused', { why: failure }, () => {
      agent.phase = 'paused';
    });
  };
  switch (failure) {
    case 'transient':
    case 'timeout':
      failState(
        model,
        agent,
        failure === 'timeout' ? 'timeout' : 'error',
        agent.turnSession === null ? null : RETRIES,
        prompt,
      );
      return;
    case 'script':
      failState(model, agent, 'error', null, 'state');
      return;
    case 'refusal':
      failState(model, agent, 'error', null, prompt, 'spoilt');
      return;
    case 'prompt_too_long':
      if (!takeGuard(model, agent, 'too_long', 'spoilt')) pause();
      return;
    case 'billing':
      note(agent, 'pause');
      pause();
      return;
    case 'usage_limit':
      note(agent, 'usage-limit');
      if (!model.subject.waits) {
        Object.assign(agent, { phase: 'ready', prompt });
        model.stopFor('usage_limit');
        model.expected.push({ kind: 'run_stopping', fields: { stop: { kind: model.stop } } });
        model.noteAll('no-wait');
        return;
      }
      Object.assign(agent, { phase: 'sleeping', prompt, sleepsForLimit: true });
      expect(agent, 'sleeping', { why: 'usage_limit', count: 0 }, ({ untilMs }) => {
        model.hold = Math.max(model.hold, Number(untilMs));
      });
      return;
    case 'session_lost': {
      note(agent, 'session-lost');
      const { turnSession } = agent;
      const session = model.sessionOf(agent);
      if (turnSession?.kind === 'new') {
        failState(model, agent, 'error', null, 'state', 'spoilt');
        return;
      }
      const next = turnSession?.kind === 'resume' ? 'fork' : 'new';
      model.setSession(
        agent,
        next === 'fork' && session !== null ? { kind: 'branch', id: session.id, compact: false } : null,
      );
      Object.assign(agent, { phase: 'ready', prompt: 'state' });
      expect(agent, 'session_lost', { next });
      return;
    }
    default:
      throw new Error(`the model does not know the failure ${failure}`);
  }
}
