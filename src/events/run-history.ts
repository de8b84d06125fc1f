import type { Event, Transitioned } from '../core/event.ts';
import { addMicros } from '../core/ledger.ts';
import { addTokens, type ModelShare, NO_TOKENS, sumTokens, type Tokens } from '../core/tokens.ts';
import { AgentLabels } from './agent-labels.ts';
import { type RunWarnings, WarningCollector } from './warnings.ts';
import { NO_WORK_TIME, updateWorkTime, type WorkTime } from './work-time.ts';

/** How long finished turns took, and what they used. */
interface TurnTotals {
  readonly turnsMs: number;
  readonly tokens: Tokens;
}

/** The finished turns of an agent, the time of its start, and that of its last event. */
export interface AgentHistory extends TurnTotals {
  readonly startedAt: number;
  readonly lastAt: number;
}

/** A transition, with all turns in the state that was left. */
export interface RecordedTransition extends Transitioned, TurnTotals {}

/** The facts about a run that only its events have. */
export interface RunHistory {
  readonly worked: WorkTime;
  /** The latest transitions, in order. */
  readonly transitions: readonly RecordedTransition[];
  readonly agents: ReadonlyMap<string, AgentHistory>;
  readonly labels: AgentLabels;
  /** What was used of each model; the one that cost most comes first. */
  readonly models: readonly ModelShare[];
  readonly warnings: RunWarnings;
  /** When the run ended; null if it goes on. */
  readonly endedAt: number | null;
}

const NO_TURNS: TurnTotals = { turnsMs: 0, tokens: NO_TOKENS };

/** Reads all events of a run and keeps its latest `maxTransitions` transitions. */
export async function collectHistory(
  events: AsyncIterable<Event> | Iterable<Event>,
  maxTransitions: number,
): Promise<RunHistory> {
  let worked = NO_WORK_TIME;
  let endedAt: number | null = null;
  const transitions: RecordedTransition[] = [];
  const agents = new Map<string, AgentHistory>();
  /** The turns of each agent since it entered its state. */
  const turnsInState = new Map<string, TurnTotals>();
  const labels = new AgentLabels();
  const models = new Map<string, ModelShare>();
  const warnings = new WarningCollector();
  for await (const event of events) {
    worked = updateWorkTime(worked, event);
    labels.observe(event);
    warnings.observe(event);
    if (event.kind === 'run_ended') endedAt = event.at;
    if (event.kind === 'run_resumed') endedAt = null;
    if (!('agent' in event)) continue;
    const { agent, at } = event;
    const before = agents.get(agent) ?? { ...NO_TURNS, startedAt: at };
    agents.set(agent, { ...before, ...addTurn(before, event), lastAt: at });
    const inState = addTurn(turnsInState.get(agent) ?? NO_TURNS, event);
    turnsInState.set(agent, inState);
    if (event.kind === 'turn_ended') for (const share of event.models) addModel(models, share);
    if (event.kind !== 'transition') continue;
    turnsInState.delete(agent);
    transitions.push({ ...event, ...inState });
    if (transitions.length > maxTransitions) transitions.shift();
  }
  const byCost = [...models.values()].sort((a, b) => b.micros - a.micros);
  return { worked, transitions, agents, labels, models: byCost, warnings: warnings.warnings, endedAt };
}

const addTurn = ({ turnsMs, tokens }: TurnTotals, event: Event): TurnTotals =>
  event.kind === 'turn_ended'
    ? { turnsMs: turnsMs + event.durationMs, tokens: addTokens(tokens, sumTokens(event.models)) }
    : { turnsMs, tokens };

function addModel(models: Map<string, ModelShare>, { model, tokens, micros }: ModelShare): void {
  const before = models.get(model) ?? { tokens: NO_TOKENS, micros: 0 };
  models.set(model, {
    model,
    tokens: addTokens(before.tokens, tokens),
    micros: addMicros(before.micros, micros),
  });
}

/** The results of the agents that have ended, archived ones included, in the order of their ends. */
export const collectResults = (events: readonly Event[]): ReadonlyMap<string, string> =>
  new Map(events.flatMap((event) => (event.kind === 'agent_ended' ? [[event.agent, event.result] as const] : [])));

/** The texts that agents have shown with `<print>`, in order. */
export function collectPrints(events: readonly Event[]): ReadonlyMap<string, readonly string[]> {
  const prints = new Map<string, string[]>();
  for (const event of events) {
    if (event.kind !== 'printed') continue;
    const texts = prints.get(event.agent);
    if (texts === undefined) prints.set(event.agent, [event.text]);
    else texts.push(event.text);
  }
  return prints;
}

/**
 * The states that each agent has entered, in order; agents in the order of their start. A state counts as entered when its
 * turn starts, or when it cannot be read; not if `max_visits` or a stop kept the agent out of it.
 */
export function collectAgentPaths(events: readonly Event[]): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, string[]>();
  const agentsInState = new Set<string>();
  for (const event of events) {
    if (event.kind === 'agent_started') paths.set(event.agent, []);
    if (event.kind === 'transition') agentsInState.delete(event.agent);
    if ((event.kind !== 'turn_started' && event.kind !== 'agent_paused') || agentsInState.has(event.agent)) continue;
    agentsInState.add(event.agent);
    paths.get(event.agent)?.push(event.state);
  }
  return paths;
}
