import type { Case } from '../case.ts';
import type { Observation } from '../observation.ts';
import { finishTurn } from './finish-turn.ts';
import { conclude, endAgent } from './joins.ts';
import { enterState, isDone, type ModelAgent } from './model-agent.ts';
import { compare, expect, Mismatch, type ModelStop, note, RunModel } from './run-model.ts';
import { startTurn } from './start-turn.ts';
import { followAnswer, openWorktree, takeGuard } from './transitions.ts';
import { limitText, requireReached } from './visits.ts';
import { seeWarning } from './warnings.ts';
import { seeWorkspace, WORKTREE_HANDLERS } from './worktrees.ts';

/** What there is to compare with the model. */
export interface RunFacts {
  readonly project: string;
  readonly runId: string;
  readonly observations: readonly Observation[];
  /** Files with the results of joins, by their paths. */
  readonly resultFiles: ReadonlyMap<string, unknown>;
  readonly ledger: { readonly spentMicros: number; readonly turns: number };
  readonly iterations: number;
}

/** Compares a run with the model; throws a Mismatch. Returns the features that each agent has met. */
export function checkRun(subject: Case, facts: RunFacts): ReadonlyMap<string, ReadonlySet<string>> {
  const model = new RunModel(subject, facts.project, facts.runId, facts.resultFiles);
  model.start();
  let hasEnded = false;
  for (const [at, observed] of facts.observations.entries()) {
    try {
      if (observed.kind === 'run_resumed') resume(model, observed, !hasEnded);
      else {
        if (hasEnded && (NEVER_AFTER_THE_END.has(observed.kind) || observed.timedOut === true))
          throw new Mismatch('the run has ended');
        see(model, observed);
      }
      if (observed.kind === 'run_ended') hasEnded = true;
      if (observed.kind === 'run_resumed') hasEnded = false;
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      throw new Mismatch(`observation ${at + 1}, ${observed.kind} of ${observed.agent ?? 'the run'}: ${error.message}`);
    }
  }
  if (!hasEnded) throw new Mismatch('the run has not ended');
  for (const { id, warnings } of model.agents.values())
    if (warnings.length > 0) throw new Mismatch(`${id} lacks warnings: ${warnings.join(', ')}`);
  compare({ spentMicros: model.spent, turns: model.turns }, facts.ledger, 'the ledger');
  compare({ iterations: model.iterations }, { iterations: facts.iterations }, 'the run');
  const costs = [...model.agents.values()].reduce((sum, { cost }) => sum + cost, 0);
  compare({ spentMicros: costs }, facts.ledger, 'the costs of all agents');
  return new Map(Array.from(model.agents.values(), ({ id, features }) => [id, features]));
}

/** What comes at the last moment, such as an answer or the end of a worktree, is taken in; but nothing new begins or is waited for. */
const NEVER_AFTER_THE_END = new Set(['agent_started', 'turn_started', 'turn_ended', 'sleeping']);

/** A resume looks at the clock before it looks whose time is over. */
const TOLERANCE_MS = 5_000;

/** Runs that wait for the same reset do not continue in the same moment. */
const WAKE_DELAY_MS = 10_000;

/** Observations about which the model says nothing. */
const IGNORED = new Set(['run_started', 'run_waiting']);

function see(model: RunModel, observed: Observation): void {
  if (IGNORED.has(observed.kind)) return;
  if (observed.agent === undefined) {
    seeRun(model, observed);
    return;
  }
  const agent = model.agent(observed.agent);
  if (observed.kind === 'warning') {
    seeWarning(model, agent, String(observed.message));
    return;
  }
  settleEnds(model);
  if (agent.leaving?.kind === observed.kind && agent.expected.length === 0 && agent.worktree?.isOpen !== true) {
    agent.expected.push(agent.leaving);
    agent.leaving = null;
  }
  const next = agent.expected.shift();
  if (next !== undefined) {
    if (next.kind !== observed.kind) throw new Mismatch(`${next.kind} was expected: ${JSON.stringify(next.fields)}`);
    compare(next.fields, observed, next.kind);
    next.then?.(observed);
    return;
  }
  const handle = HANDLERS[observed.kind];
  if (handle === undefined)
    throw new Mismatch(`nothing of the kind was expected of an agent that is ${agent.phase} in ${agent.state}`);
  handle(model, agent, observed);
}

/** Lets joins take note of what ended when a resume put agents back to work, once that is over. */
function settleEnds(model: RunModel): void {
  if (model.ends.length === 0 || model.isResuming()) return;
  if ([...model.agents.values()].some(({ expected }) => expected.length > 0)) return;
  const { ends } = model;
  model.ends = [];
  for (const settle of ends) settle();
}

type Handler = (model: RunModel, agent: ModelAgent, observed: Observation) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  ...WORKTREE_HANDLERS,
  turn_started: startTurn,
  turn_ended: finishTurn,

  printed(_model, agent, { text }) {
    if (agent.phase !== 'running' && agent.phase !== 'cancelling') throw new Mismatch('no turn is running');
    agent.prints.push(String(text));
    note(agent, 'print');
  },

  sleeping(model, agent, { why, at, untilMs }) {
    // Somebody has to wait for the end of a usage limit: another agent, if the one that did was cancelled.
    if (agent.phase !== 'ready' || why !== 'usage_limit') throw new Mismatch(`it is ${agent.phase}`);
    const reserved = model.reservedUntil();
    const late = Number(untilMs) - (reserved ?? 0);
    if (reserved !== null && late >= 0 && late <= WAKE_DELAY_MS) model.noteAll('reserve');
    else if (at >= model.hold) throw new Mismatch('no turn is held');
    else compare({ untilMs: model.hold }, { untilMs }, 'the usage limit');
    Object.assign(agent, { phase: 'sleeping', sleepsForLimit: true });
  },

  woken(_model, agent) {
    if (agent.phase !== 'sleeping') throw new Mismatch(`it is ${agent.phase}`);
    agent.phase = 'ready';
    agent.sleepsForLimit = false;
  },

  said(_model, agent, { said, text, turn, refused }) {
    if (refused !== null) {
      if (!isDone(agent) && agent.phase !== 'cancelling') throw new Mismatch(`the message is refused: ${refused}`);
      return;
    }
    agent.messages.push({ id: String(said), text: String(text), turn: turn === null ? null : Number(turn) });
    note(agent, 'message');
  },

  turn_interrupted(_model, agent, { interrupt, turn, text, refused }) {
    if (refused !== null || turn === null) return;
    compare({ turn: agent.turns }, { turn }, 'the interruption');
    agent.interruption = { id: String(interrupt), turn: Number(turn), text: text === null ? null : String(text) };
    note(agent, 'interrupt');
  },

  ask_answered(model, agent, { ask, text }) {
    const question = agent.question;
    if (agent.phase !== 'asking' || question === null) throw new Mismatch(`it is ${agent.phase}`);
    const given = nextAnswer(model, agent);
    if (given === null) throw new Mismatch('nobody was to answer');
    const labels = question.tag.attributes.choices?.split('|').map((label) => label.trim());
    const answer = labels?.[Number(given) - 1] ?? given;
    compare({ ask: question.id, text: answer }, { ask, text }, 'the answer');
    if (question.interrupted !== null) {
      agent.messages.push({ id: question.id, text: answer, turn: null });
      Object.assign(agent, { phase: 'ready', prompt: question.interrupted, question: null });
      return;
    }
    leaveQuestion(agent, question.next, answer);
  },

  ask_timed_out(model, agent, { at }) {
    const question = agent.question;
    if (agent.phase !== 'asking' || question === null) throw new Mismatch(`it is ${agent.phase}`);
    if (question.untilMs === null || question.timeoutNext === null || at < question.untilMs - TOLERANCE_MS)
      throw new Mismatch(`its time is over at ${question.untilMs}, not at ${at}`);
    nextAnswer(model, agent);
    leaveQuestion(agent, question.timeoutNext, null);
  },

  joined(model, agent, observed) {
    timeOut(model, agent, observed.at);
    see(model, observed);
  },

  cancelling: seeCancelled,
  agent_cancelled: seeCancelled,

  transition(model, agent, observed) {
    // Only a guard of `max_visits` leads elsewhere without a turn before it.
    requireReached(model, agent);
    if (agent.refused.has(agent.state)) throw new Mismatch('it was led past this state already');
    agent.refused.add(agent.state);
    if (!takeGuard(model, agent, 'max_visits')) throw new Mismatch('there is no guard');
    see(model, observed);
  },

  visit_limit(model, agent, { maxVisits }) {
    const def = requireReached(model, agent);
    compare({ maxVisits: def.maxVisits }, { maxVisits }, 'the limit');
    if (def.on.max_visits !== undefined && !agent.refused.has(agent.state))
      throw new Mismatch('a guard should lead elsewhere');
    endAgent(model, agent, 'limited', limitText(def.maxVisits));
  },

  agent_resumed(_model, agent) {
    if (agent.phase === 'failed' && agent.joinedBy === null) {
      note(agent, 'retried-failure');
      Object.assign(agent, {
        phase: 'ready',
        prompt: 'state',
        reminders: 0,
        retries: 0,
        mustSay: false,
        wasDenied: false,
      });
      if (agent.worktree !== null) openWorktree(agent);
      return;
    }
    if (!agent.mustResume && !agent.needsRetry) throw new Mismatch(`it is ${agent.phase}`);
    agent.mustResume = false;
    agent.needsRetry = false;
    agent.sleepsForLimit = false;
    if (agent.kept === null) {
      const wasDone = agent.phase === 'limited';
      agent.phase = 'ready';
      if (wasDone && agent.worktree !== null) openWorktree(agent);
      return;
    }
    const { kept } = agent;
    agent.kept = null;
    agent.phase = 'running';
    followAnswer(_model, agent, kept);
  },
};

/** What the person says to this question of an agent; null if nobody answers. */
function nextAnswer(model: RunModel, agent: ModelAgent): string | null {
  const key = `${agent.id}/${agent.state}`;
  const number = (model.questions.get(key) ?? 0) + 1;
  model.questions.set(key, number);
  return model.subject.asks.get(agent.state)?.[number - 1]?.text ?? null;
}

function leaveQuestion(agent: ModelAgent, to: string, input: string | null): void {
  const { question } = agent;
  if (question === null) return;
  const { id, by, implicit } = question;
  const fields = {
    to,
    tag: 'ask',
    input,
    implicit,
    choice: { by },
    cwd: agent.cwd,
    depth: agent.stack.length,
    costMicros: agent.stateCost,
  };
  expect(agent, 'transition', fields, () => {
    enterState(agent, to, input);
    agent.askId = id;
  });
}

/** A join cancels this agent because its time is over; for any other reason that was expected. */
function seeCancelled(model: RunModel, _agent: ModelAgent, observed: Observation): void {
  timeOut(model, model.agent(observed.by), observed.at);
  see(model, observed);
}

function timeOut(model: RunModel, agent: ModelAgent, at: number): void {
  const { join } = agent;
  if (agent.phase !== 'joining' || join === null) throw new Mismatch(`${agent.id} is ${agent.phase}`);
  if (join.isOver || join.untilMs === null || at < join.untilMs - TOLERANCE_MS)
    throw new Mismatch(`the join of ${agent.id} is not over`);
  join.timedOut = true;
  note(agent, 'timed-out-join');
  conclude(model, agent, join);
}

/** Lets a run continue. If nobody had ended it, its process had crashed. */
function resume(model: RunModel, { options }: Observation, hasCrashed: boolean): void {
  const { budgetMicros, maxIterations, reserve } = options as Record<string, number | null>;
  model.budget = budgetMicros ?? null;
  model.maxIterations = maxIterations ?? null;
  model.reserve = reserve ?? null;
  model.isCloneOpen = false;
  model.stop = null;
  model.isUnpushed = false;
  model.hold = 0;
  if (model.expected.length > 0) throw new Mismatch(`${model.expected[0]?.kind} was expected before the end`);
  for (const agent of model.agents.values()) {
    if (agent.expected.length > 0)
      throw new Mismatch(`${agent.id}: ${agent.expected[0]?.kind} was expected before the end`);
    if (!isDone(agent)) note(agent, hasCrashed ? 'crash' : 'resume');
    const { phase, joinedBy } = agent;
    agent.mustResume =
      (phase === 'paused' && !agent.needsRetry) ||
      phase === 'withheld' ||
      (phase === 'limited' && joinedBy === null) ||
      (phase === 'sleeping' && agent.sleepsForLimit);
  }
  if (!model.isOverBudget()) return;
  for (const agent of model.agents.values()) agent.mustResume = false;
  model.expected.push({ kind: 'run_stopping', fields: { stop: { kind: 'budget' } } });
  model.stopFor('budget');
}

function seeRun(model: RunModel, observed: Observation): void {
  settleEnds(model);
  if (observed.kind.startsWith('workspace_')) {
    seeWorkspace(model, observed);
    return;
  }
  if (observed.kind === 'quota') {
    seeQuota(model, observed);
    return;
  }
  if (observed.kind === 'run_stopping') {
    const next = model.expected.shift();
    if (next !== undefined) {
      compare(next.fields, observed, 'run_stopping');
      return;
    }
    const { stop, refused } = observed as { stop?: { kind?: string }; refused?: { agent?: string } };
    if (isPersonsStop(model, stop?.kind) || isReserveStop(model, stop?.kind)) return;
    const agent = model.agent(refused?.agent);
    if (
      stop?.kind !== 'iterations' ||
      agent.phase !== 'ready' ||
      agent.isEntered ||
      model.iterations < (model.maxIterations ?? Number.POSITIVE_INFINITY)
    )
      throw new Mismatch(`the run should not stop: ${JSON.stringify(stop)}`);
    note(agent, 'max_iterations');
    model.stopFor('iterations');
    return;
  }
  if (observed.kind !== 'run_ended') throw new Mismatch('it is not known to the model');
  for (const agent of model.agents.values()) {
    if (agent.expected.length > 0)
      throw new Mismatch(`${agent.id}: ${agent.expected[0]?.kind} was expected before the end`);
    // The join of a kept answer may have taken note of it meanwhile.
    if (agent.mustResume && agent.joinedBy === null) throw new Mismatch(`${agent.id} was not resumed`);
  }
  if (model.isCloneOpen) throw new Mismatch('its clone should have been left');
  const status = statusOf(model);
  compare({ status, spentMicros: model.spent }, observed, 'the end');
  model.hasLateFiles ||= status === 'paused';
}

/** A person has stopped the run, or what was in its clone was not pushed because of that. */
function isPersonsStop(model: RunModel, kind: string | undefined): boolean {
  const { stops } = model.subject;
  if (kind === 'workspace' && stops.some(({ how }) => how === 'kill')) {
    model.isUnpushed = true;
    return true;
  }
  const how = stops.filter((each) => (each.how === 'interrupt' ? 'interrupted' : 'stopped') === kind);
  if ((kind !== 'stopped' && kind !== 'interrupted') || how.length === 0) return false;
  model.stopFor(kind);
  model.noteAll('stop');
  return true;
}

/** A run that does not wait stops where the rest is kept for the user. */
function isReserveStop(model: RunModel, kind: string | undefined): boolean {
  if (kind !== 'usage_limit' || model.subject.waits || model.reservedUntil() === null) return false;
  model.stopFor(kind);
  model.noteAll('no-wait');
  model.noteAll('reserve');
  return true;
}

function seeQuota(model: RunModel, { quota, parallel }: Observation): void {
  const { windows = {} } = (quota ?? {}) as {
    readonly windows?: Readonly<Record<string, { readonly percent: number; readonly resetsAtMs: number }>>;
  };
  const window = windows.five_hour;
  model.quotaReports += 1;
  model.quota = window === undefined ? null : { percent: window.percent, resetsAt: window.resetsAtMs };
  const allowed = model.parallelTurns();
  const lowered = allowed < model.subject.parallel ? allowed : null;
  compare({ parallel: lowered }, { parallel }, 'the quota');
  if (lowered !== null) model.noteAll('slow-at');
}

/** How a run ends; the first of these counts if several apply. */
const STATUSES = [
  'interrupted',
  'budget_exceeded',
  'iteration_limit',
  'paused',
  'waiting',
  'failed',
  'completed',
] as const;

const STATUS_OF_STOP: Readonly<Record<ModelStop, string>> = {
  interrupted: 'interrupted',
  budget: 'budget_exceeded',
  iterations: 'iteration_limit',
  usage_limit: 'paused',
  stopped: 'paused',
};

const ACTIVE: ReadonlySet<string> = new Set(['ready', 'running', 'sleeping', 'cancelling', 'opening', 'leaving']);

function statusOf(model: RunModel): string {
  const found = new Set<string>(model.isUnpushed ? ['paused'] : []);
  for (const agent of model.agents.values()) {
    const { phase, joinedBy } = agent;
    const isSettled = phase === 'ended' || phase === 'cancelled' || (isDone(agent) && joinedBy !== null);
    if (isSettled) continue;
    if (model.stop !== null) found.add(STATUS_OF_STOP[model.stop]);
    if (phase === 'limited') found.add('iteration_limit');
    if (phase === 'withheld') found.add('budget_exceeded');
    if (phase === 'paused') found.add('paused');
    if (phase === 'asking') found.add('waiting');
    if (phase === 'failed') found.add('failed');
    const canContinue = ACTIVE.has(phase);
    if (canContinue && (model.stop === null || phase === 'running' || phase === 'cancelling'))
      throw new Mismatch(`${agent.id} is ${phase} in ${agent.state}: the run should not have ended`);
  }
  return STATUSES.find((status) => found.has(status)) ?? 'completed';
}
