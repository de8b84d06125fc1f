import { expectedMicros } from './ledger.ts';
import { isPrompt } from './names.ts';
import type { Policy } from './policy.ts';
import type { Position, Preference } from './position.ts';
import { type Agent, type Prompt, type Run, type TurnRecord, visitsOf } from './run.ts';
import { variablesOf } from './variables.ts';

/** Which turn of a run is meant. */
export interface TurnName {
  readonly agent: string;
  /** Counted per agent, from 1. */
  readonly number: number;
  readonly state: string;
}

interface Common extends TurnName, Pick<Position, 'cwd' | 'input'> {
  /** Which of the agent's visits to the state it belongs to, and which turn of that visit it is; both from 1. */
  readonly visit: number;
  readonly attempt: number;
  readonly variables: Readonly<Record<string, string>>;
  /** What the state permits, once it has been read. */
  readonly policy: Policy;
  /** What is on record if the turn is already under way: after a crash it is looked for, not started. */
  readonly record: TurnRecord | null;
}

export interface ClaudeTurn extends Common {
  readonly kind: 'claude';
  readonly prompt: Prompt;
  /** What a tag asked for, which goes before what the state asks for. */
  readonly preference: Preference;
  /** What the turn may cost at most; null if the run has no budget. */
  readonly budgetMicros: number | null;
}

export interface ScriptTurn extends Common {
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

const NOBODY: ReadonlySet<string> = new Set();

/**
 * What should be under way now, but for the agents that are seen to already. Pure: after a crash it says the same again.
 */
export function due(run: Run, seenTo: ReadonlySet<string> = NOBODY): readonly Turn[] {
  const turns: Turn[] = [];
  const running: Agent[] = [];
  const waiting: Agent[] = [];
  for (const agent of run.agents) {
    const { phase } = agent;
    if (phase.kind === 'running') {
      if (phase.turn.session !== null) running.push(agent);
      if (!seenTo.has(agent.id)) turns.push(turnOf(run, agent, phase.turn.prompt, phase.turn, null));
    }
    if (run.stop !== null || seenTo.has(agent.id)) continue;
    if (phase.kind === 'sleeping') turns.push({ kind: 'sleep', agent: agent.id, untilMs: phase.untilMs });
    if (phase.kind === 'ready' && isPrompt(agent.state)) waiting.push(agent);
    if (phase.kind === 'ready' && !isPrompt(agent.state)) turns.push(turnOf(run, agent, phase.prompt, null, null));
  }
  return run.hold === null ? [...turns, ...affordable(run, running, waiting)] : turns;
}

/**
 * The Claude turns that may start beside those that run: first come, first served, as many as `parallel` allows, and
 * only while money is left for them. With nothing running, something is always left, or the run would have stopped.
 */
function affordable(run: Run, running: readonly Agent[], waiting: readonly Agent[]): readonly Turn[] {
  const { parallel, budgetMicros } = run.options;
  const slots = parallel === null ? waiting.length : Math.max(0, parallel - running.length);
  const expected = (agent: Agent) => expectedMicros(run.ledger, agent.state);
  let left = (budgetMicros ?? Number.POSITIVE_INFINITY) - run.ledger.spentMicros;
  for (const agent of running) left -= expected(agent);
  const turns: Turn[] = [];
  for (const agent of waiting.toSorted((a, b) => sinceOf(a) - sinceOf(b)).slice(0, slots)) {
    if (left <= 0 || agent.phase.kind !== 'ready') break;
    turns.push(turnOf(run, agent, agent.phase.prompt, null, budgetMicros === null ? null : Math.floor(left)));
    left -= expected(agent);
  }
  return turns;
}

const sinceOf = ({ phase }: Agent): number => (phase.kind === 'ready' ? phase.since : 0);

function turnOf(run: Run, agent: Agent, prompt: Prompt, record: TurnRecord | null, budgetMicros: number | null): Turn {
  const { id, state, cwd, input, model, effort } = agent;
  const number = record?.number ?? agent.turns + 1;
  const policy = agent.rules?.policy ?? [];
  const place = { agent: id, number, state, visit: visitsOf(agent) + (agent.rules === null ? 1 : 0), cwd, input };
  const attempt = agent.tries + (record === null ? 1 : 0);
  const common = { ...place, attempt, variables: variablesOf(run, agent), policy, record };
  if (!isPrompt(state))
    return { kind: 'script', ...common, attributes: { ...run.options.variables, ...agent.variables } };
  return { kind: 'claude', ...common, prompt, preference: { model, effort }, budgetMicros };
}
