import { askModeOf } from '../../language/ask.ts';
import type { Guards } from '../../language/guards.ts';
import type { Grants } from '../../language/permission.ts';
import type { PinnedCode } from '../../language/pinned-code.ts';
import type { Evaluator, Policy } from '../../language/policy.ts';
import { inputText, type Position, type Preference } from '../../language/position.ts';
import { isPrompt } from '../../language/state-names.ts';
import { resultCheckOf, type TurnResultCheck } from '../answers/checked-results.ts';
import { type JoinResults, resultsOf } from '../joins/join-results.ts';
import {
  type Agent,
  evaluationCount,
  promptVisitCount,
  type RunningTurn,
  recordedTurn,
  type TurnPrompt,
  turnFileOf,
  turnSessionOf,
  visitCount,
} from '../run/agent.ts';
import { countTurns, sumClaudeTurns } from '../run/agent-index.ts';
import type { Step } from '../run/event.ts';
import { type PermissionQuestion, waitingAsksOf } from '../run/permission.ts';
import type { Run } from '../run/run.ts';
import type { Said } from '../run/said.ts';
import { messagesFor } from '../run/say.ts';
import { hasOtherWork } from '../run/status.ts';
import { environmentVariables, promptVariables } from '../run/variables.ts';
import { type AgentFolders, workFoldersOf } from '../run/work-folders.ts';
import { WORKSPACE, type WorkspacePlace } from '../run/workspace.ts';
import { type AskTurn, askTurnOf } from './ask-turn.ts';
import { promptToSend } from './compaction.ts';
import { preferenceOf } from './preference.ts';
import { capOfNextTurn, claudeCapacity, reserveTurn, toKeptCap } from './turn-cap.ts';
import { type WorkspaceTurn, type WorktreeTurn, workspaceTurnOf, worktreeTurnOf } from './worktree-turns.ts';

/** Identifies a turn of a run. */
export interface TurnRef {
  readonly agent: string;
  /** Counted per agent, from 1. */
  readonly number: number;
  /** The file of the state; in the turn of an evaluator, that of the evaluator. */
  readonly state: string;
}

/** An answer that an evaluator is to judge: the state that gave it, its text, and the transition that it asks for, as tags. */
export interface EvaluatedAnswer {
  readonly state: string;
  readonly text: string;
  readonly transition: string;
}

/** The turn that an event is about. */
export const turnRefOf = (event: {
  readonly agent: string;
  readonly turn: number;
  readonly state: string;
  readonly evaluator: string | null;
}): TurnRef => ({ agent: event.agent, number: event.turn, state: event.evaluator ?? event.state });

/** The turns that ended in a step. */
export const endedTurnsOf = ({ events }: Step): readonly TurnRef[] =>
  events.flatMap((event) => (event.kind === 'turn_ended' ? [turnRefOf(event)] : []));

interface TurnBase extends TurnRef, AgentFolders, TurnResultCheck, Pick<Position, 'cwd'>, Pick<Agent, 'node'> {
  /** The number of the agent's visit to the state, and of the turn within that visit; both from 1. */
  readonly visit: number;
  readonly attempt: number;
  /** The value of `{{result}}`; null if nothing was handed over. */
  readonly input: string | null;
  readonly variables: Readonly<Record<string, string>>;
  /** The workers that it has joined, if it comes from a join. */
  readonly results: JoinResults | null;
  /** The policy of the state; empty until the state has been read. */
  readonly policy: Policy;
  /** The event in the previous state, if a guard led here. */
  readonly error: string | null;
  /** The measure of progress, if the state has `stuck_after`. */
  readonly stuck: Guards['stuck'];
  /** The evaluators of the state's answer; empty until the state has been read. */
  readonly evaluators: readonly Evaluator[];
  /** The answer that this turn evaluates, with its state and the transition that it asks for; null for a turn of the state itself. */
  readonly evaluates: EvaluatedAnswer | null;
  /** The code that it may use; left out if any. */
  readonly code?: PinnedCode;
  /** The clone of the run and the commit that it began with; left out if the run has none. */
  readonly clone?: Pick<WorkspacePlace, 'path' | 'base'>;
  /** The turn on record if it is already under way: after a crash it is looked for, not started again. */
  readonly record: RunningTurn | null;
}

/** A turn in which Claude Code answers a prompt. */
export interface ClaudeTurn extends TurnBase {
  readonly kind: 'claude';
  readonly prompt: TurnPrompt;
  /** Messages from people: to be put before a new prompt, or perhaps already written into the turn on record. */
  readonly words: readonly Pick<Said, 'id' | 'text'>[];
  /** True if a person has interrupted the turn on record. */
  readonly isInterrupted: boolean;
  /** True if it opens a conversation that knows nothing yet. */
  readonly isFresh: boolean;
  /** Model and effort that a tag asked for; they win over those of the state. */
  readonly preference: Preference;
  /** The model of the conversation that it continues, for a turn for which nobody names one; null if it has none. */
  readonly sessionModel: string | null;
  /** The most that the turn may cost; null if the run has no budget. */
  readonly budgetMicros: number | null;
  /** True if the run has more than that: if the turn uses it up, the agent continues later. */
  readonly isShare: boolean;
  /** The questions about tools that are not settled: those of the turn on record, and decisions that its prompt tells of. */
  readonly permissions: readonly PermissionQuestion[];
  /** The tools that a person has permitted for the rest of the run. */
  readonly grants: Grants;
  /** False if tools that are not permitted are denied, whatever the state says. */
  readonly mayAsk: boolean;
}

/** A turn in which a script runs. */
export interface ScriptTurn extends TurnBase {
  readonly kind: 'script';
  /** The variables of the run and of the agent's fork, as the script gets them in its environment. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** A turn in which an agent only waits. */
export interface SleepTurn {
  readonly kind: 'sleep';
  readonly agent: string;
  readonly why: 'retry' | 'usage_limit' | 'join';
  readonly untilMs: number;
  /** How long it was to wait when that was decided: no clock makes it longer. Null if that is not known. */
  readonly mostMs: number | null;
}

/** Something that the world is to do for an agent. */
export type Turn = ClaudeTurn | ScriptTurn | SleepTurn | AskTurn | WorktreeTurn | WorkspaceTurn;

const NO_AGENTS: ReadonlySet<string> = new Set();

/**
 * The turns that should be under way now, except those of agents in `underWay`. After a crash it names the same turns
 * again.
 */
export function due(run: Run, underWay: ReadonlySet<string> = NO_AGENTS): readonly Turn[] {
  const idle = run.agents.filter(({ id }) => !underWay.has(id));
  const waitingFor = (wait: WaitKind): readonly Agent[] => idle.filter((agent) => waitKindOf(agent) === wait);
  return turnsFor(run, {
    recorded: waitingFor('recorded'),
    sleep: waitingFor('sleep'),
    ask: waitingFor('ask'),
    joinedScript: sortByReadySince(waitingFor('joinedScript')),
    script: sortByReadySince(waitingFor('script')),
    ongoing: sortByReadySince(waitingFor('ongoing')),
    inLine: sortByReadySince(waitingFor('inLine')),
    isWorkspaceUnderWay: underWay.has(WORKSPACE),
  });
}

/**
 * What an idle agent waits for: that its turn on record is picked up, that time passes or its worktree is there, that a
 * person answers, a new turn of a script, or one of Claude Code. For the latter, `ongoing` agents go first and all others
 * stand `inLine`; of scripts, those that come after a join go first.
 */
export type WaitKind = 'recorded' | 'sleep' | 'ask' | 'joinedScript' | 'script' | 'ongoing' | 'inLine';

/** Agents by what they wait for, each list in the order in which it is served. */
export type AgentsByWait = Readonly<Record<WaitKind, Iterable<Agent>>> & {
  /** True if the clone of the run is being made or left. */
  readonly isWorkspaceUnderWay: boolean;
};

/** The turn that an agent waits for; null if it cannot continue by itself. */
export function waitKindOf(agent: Agent): WaitKind | null {
  const { phase } = agent;
  if (recordedTurn(phase) !== null) return 'recorded';
  if (phase.kind === 'sleeping' || phase.kind === 'worktree') return 'sleep';
  if (phase.kind === 'asking') return 'ask';
  if (phase.kind === 'joining' && phase.untilMs !== null) return 'sleep';
  if (phase.kind !== 'ready') return null;
  if (!isPrompt(turnFileOf(agent))) return agent.results === null ? 'script' : 'joinedScript';
  return goesFirst(agent) ? 'ongoing' : 'inLine';
}

/** How often an agent that has begun stands in line all the same, so that nobody waits forever. */
const IN_LINE_EVERY = 32;
/** The same for an agent that has forked: otherwise an endless dispatcher would never let its workers begin. */
const PARENT_IN_LINE_EVERY = 2;

/** Agents that have begun go first: if the money runs out, few of them are left half done. So do those with the results of a join. */
function goesFirst(agent: Agent): boolean {
  if (agent.results !== null) return true;
  return promptVisitCount(agent) % (agent.forks > 0 ? PARENT_IN_LINE_EVERY : IN_LINE_EVERY) !== 0;
}

/** Sorts agents by the step in which they became ready; the new workers of a step stand before their parent. */
export const sortByReadySince = (agents: readonly Agent[]): readonly Agent[] =>
  agents.toSorted((a, b) => readySince(a) - readySince(b) || Number(a.turns > 0) - Number(b.turns > 0));

const readySince = ({ phase }: Agent): number => (phase.kind === 'ready' ? phase.since : 0);

/** The turns of waiting agents. When the run stops, only turns on record are left; while it holds, no Claude turn starts. */
export function turnsFor(run: Run, waiting: AgentsByWait): readonly Turn[] {
  const { recorded, sleep, ask, joinedScript, script } = waiting;
  const turns = Array.from(recorded, (agent) => turnOf(run, agent));
  const workspace = workspaceTurnOf(run);
  // Nobody begins anything before it is there, or while it is left.
  if (workspace !== null) return waiting.isWorkspaceUnderWay ? turns : [...turns, workspace];
  if (run.stop !== null) return turns;
  for (const agent of sleep) turns.push(turnOf(run, agent));
  // A run that is not to wait for people listens to them only while it has other work.
  if (askModeOf(run) === 'wait' || hasOtherWork(run)) for (const agent of ask) turns.push(turnOf(run, agent));
  for (const agent of takeFirst([joinedScript, script], freeScriptSlots(run))) turns.push(turnOf(run, agent));
  return run.hold === null ? [...turns, ...affordableClaudeTurns(run, waiting)] : turns;
}

/** How many scripts may start beside the running ones. */
const freeScriptSlots = ({ agents, options }: Run): number =>
  (options.parallelScripts ?? Number.POSITIVE_INFINITY) - countTurns(agents) + sumClaudeTurns(agents).count;

function* takeFirst<T>(lists: readonly Iterable<T>[], count: number): Iterable<T> {
  let left = count;
  for (const items of lists) {
    for (const item of items) {
      if (left <= 0) return;
      left -= 1;
      yield item;
    }
  }
}

/**
 * The Claude turns that may start beside the running ones, in the order of the lists. If there is not enough left for
 * the first, those behind it wait, too: otherwise a costly state would never have its turn.
 */
function affordableClaudeTurns(run: Run, { ongoing, inLine }: AgentsByWait): readonly Turn[] {
  let capacity = claudeCapacity(run);
  const turns: Turn[] = [];
  for (const agents of [ongoing, inLine]) {
    for (const agent of agents) {
      const capMicros = capOfNextTurn(run, agent.state, capacity);
      if (capMicros === null) return turns;
      turns.push(turnOf(run, agent, toKeptCap(capMicros)));
      capacity = reserveTurn(capacity, capMicros);
    }
  }
  return turns;
}

const STATE_PROMPT: TurnPrompt = { kind: 'state' };

function turnOf(run: Run, agent: Agent, capMicros: number | null = null): Turn {
  const { id, phase, cwd, input, evaluation, node } = agent;
  if (phase.kind === 'sleeping')
    return { kind: 'sleep', agent: id, why: phase.why, untilMs: phase.untilMs, mostMs: phase.waitMs ?? null };
  if (phase.kind === 'worktree') return worktreeTurnOf(agent, run, phase.outcome === null);
  const [asked] = phase.kind === 'asking' ? waitingAsksOf(agent) : [];
  if (asked !== undefined) return askTurnOf(run, asked);
  if (phase.kind === 'joining')
    return { kind: 'sleep', agent: id, why: 'join', untilMs: phase.untilMs ?? 0, mostMs: phase.timeoutMs ?? null };
  const record = recordedTurn(phase);
  const state = turnFileOf(agent);
  const evaluators = agent.rules?.evaluators ?? [];
  const common = {
    agent: id,
    number: record?.number ?? agent.turns + 1,
    state,
    visit: evaluation === null ? visitCount(agent) + (agent.rules === null ? 1 : 0) : evaluationCount(agent),
    attempt: agent.tries + (record === null ? 1 : 0),
    cwd,
    node,
    input: inputText(input),
    ...workFoldersOf(run, agent),
    variables: promptVariables(run, agent),
    results: resultsOf(run, agent),
    policy: agent.rules?.policy ?? [],
    error: agent.error,
    stuck: evaluation === null ? (agent.rules?.guards?.stuck ?? null) : null,
    evaluators,
    evaluates:
      evaluation === null ? null : { state: agent.state, text: evaluation.text, transition: evaluation.transition },
    ...resultCheckOf(agent),
    ...(run.code !== null && { code: run.code }),
    ...(run.workspace?.place != null && { clone: run.workspace.place }),
    record,
  };
  if (!isPrompt(state)) return { kind: 'script', ...common, attributes: environmentVariables(run, agent) };
  const prompt =
    record?.prompt ?? promptToSend(phase.kind === 'ready' ? phase.prompt : STATE_PROMPT, turnSessionOf(agent));
  const budgetMicros = record?.capMicros ?? capMicros;
  return {
    kind: 'claude',
    ...common,
    prompt,
    words: messagesFor(agent, record, prompt),
    isInterrupted: agent.interruption !== null,
    isFresh: record === null ? turnSessionOf(agent) === null : record.session?.kind === 'new',
    preference: preferenceOf(agent),
    sessionModel: turnSessionOf(agent)?.model ?? null,
    budgetMicros,
    isShare: budgetMicros !== null && budgetMicros < (run.options.budgetMicros ?? 0) - run.ledger.spentMicros,
    permissions: agent.permissions,
    grants: run.grants,
    mayAsk: askModeOf(run) !== 'fail',
  };
}
