import { type Agent, type RunningTurn, type TurnPrompt, visitCount } from './agent.ts';
import { expectedMicros } from './ledger.ts';
import type { Policy } from './policy.ts';
import type { Position, Preference } from './position.ts';
import type { Run } from './run.ts';
import { isPrompt } from './state-names.ts';
import { promptVariables } from './variables.ts';

/** Which turn of a run is meant. */
export interface TurnRef {
  readonly agent: string;
  /** Counted per agent, from 1. */
  readonly number: number;
  readonly state: string;
}

interface TurnBase extends TurnRef, Pick<Position, 'cwd' | 'input'> {
  /** Which of the agent's visits to the state it belongs to, and which turn of that visit it is; both from 1. */
  readonly visit: number;
  readonly attempt: number;
  readonly variables: Readonly<Record<string, string>>;
  /** What the state permits, once it has been read. */
  readonly policy: Policy;
  /** What is on record if the turn is already under way: after a crash it is looked for, not started. */
  readonly record: RunningTurn | null;
}

export interface ClaudeTurn extends TurnBase {
  readonly kind: 'claude';
  readonly prompt: TurnPrompt;
  /** What a tag asked for, which goes before what the state asks for. */
  readonly preference: Preference;
  /** What the turn may cost at most; null if the run has no budget. */
  readonly budgetMicros: number | null;
}

export interface ScriptTurn extends TurnBase {
  readonly kind: 'script';
  /** The run's variables and the attributes of the agent's fork: a script finds them in its environment. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Waiting is a turn like any other. */
export interface SleepTurn {
  readonly kind: 'sleep';
  readonly agent: string;
  readonly untilMs: number;
}

export type Turn = ClaudeTurn | ScriptTurn | SleepTurn;

const NO_AGENTS: ReadonlySet<string> = new Set();

/**
 * What should be under way now, but for the agents that are seen to already. Pure: after a crash it says the same again.
 */
export function due(run: Run, underWay: ReadonlySet<string> = NO_AGENTS): readonly Turn[] {
  const idle = run.agents.filter(({ id }) => !underWay.has(id));
  const waitingFor = (wait: WaitKind): readonly Agent[] => idle.filter((agent) => waitKindOf(agent) === wait);
  return turnsFor(run, {
    recorded: waitingFor('recorded'),
    sleep: waitingFor('sleep'),
    script: waitingFor('script'),
    prompt: sortByReadySince(waitingFor('prompt')),
    atClaude: run.agents.filter(hasClaudeTurnRunning),
  });
}

/** What an agent waits for that nobody sees to: that its turn on record is taken up, that time passes, or a new turn. */
export type WaitKind = 'recorded' | 'sleep' | 'script' | 'prompt';

/** Agents by what they wait for, those who want to prompt in the order of their turn; and those whose Claude turn runs. */
export type AgentsByWait = Readonly<Record<WaitKind | 'atClaude', Iterable<Agent>>>;

export function waitKindOf({ phase, state }: Agent): WaitKind | null {
  if (phase.kind === 'running') return 'recorded';
  if (phase.kind === 'sleeping') return 'sleep';
  if (phase.kind === 'ready') return isPrompt(state) ? 'prompt' : 'script';
  return null;
}

export const hasClaudeTurnRunning = ({ phase }: Agent): boolean =>
  phase.kind === 'running' && phase.turn.session !== null;

/** First come, first served. */
export const sortByReadySince = (agents: readonly Agent[]): readonly Agent[] =>
  agents.toSorted((a, b) => readySince(a) - readySince(b));

const readySince = ({ phase }: Agent): number => (phase.kind === 'ready' ? phase.since : 0);

/** The turns of those who wait: once the run stops, only the turns on record; while it holds, none of Claude's. */
export function turnsFor(run: Run, waiting: AgentsByWait): readonly Turn[] {
  const { recorded, sleep, script } = waiting;
  const turns = Array.from(recorded, (agent) => turnOf(run, agent));
  if (run.stop !== null) return turns;
  for (const agents of [sleep, script]) for (const agent of agents) turns.push(turnOf(run, agent));
  return run.hold === null ? [...turns, ...affordableClaudeTurns(run, waiting)] : turns;
}

/**
 * The Claude turns that may start beside those that run: as many as `parallel` allows, and only while money is left for
 * them. With nothing running, something is always left, or the run would have stopped.
 */
function affordableClaudeTurns(run: Run, { prompt, atClaude }: AgentsByWait): readonly Turn[] {
  const { parallel, budgetMicros } = run.options;
  let slots = parallel ?? Number.POSITIVE_INFINITY;
  let leftMicros = (budgetMicros ?? Number.POSITIVE_INFINITY) - run.ledger.spentMicros;
  const reserve = ({ state }: Agent): void => {
    slots -= 1;
    leftMicros -= expectedMicros(run.ledger, state);
  };
  for (const agent of atClaude) reserve(agent);
  const turns: Turn[] = [];
  for (const agent of prompt) {
    if (slots <= 0 || leftMicros <= 0) break;
    turns.push(turnOf(run, agent, budgetMicros === null ? null : Math.floor(leftMicros)));
    reserve(agent);
  }
  return turns;
}

const STATE_PROMPT: TurnPrompt = { kind: 'state' };

function turnOf(run: Run, agent: Agent, budgetMicros: number | null = null): Turn {
  const { id, state, phase, cwd, input, model, effort } = agent;
  if (phase.kind === 'sleeping') return { kind: 'sleep', agent: id, untilMs: phase.untilMs };
  const record = phase.kind === 'running' ? phase.turn : null;
  const common = {
    agent: id,
    number: record?.number ?? agent.turns + 1,
    state,
    visit: visitCount(agent) + (agent.rules === null ? 1 : 0),
    attempt: agent.tries + (record === null ? 1 : 0),
    cwd,
    input,
    variables: promptVariables(run, agent),
    policy: agent.rules?.policy ?? [],
    record,
  };
  if (!isPrompt(state))
    return { kind: 'script', ...common, attributes: { ...run.options.variables, ...agent.variables } };
  const prompt = record?.prompt ?? (phase.kind === 'ready' ? phase.prompt : STATE_PROMPT);
  return { kind: 'claude', ...common, prompt, preference: { model, effort }, budgetMicros };
}
