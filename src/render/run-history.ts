import type { Event, Transitioned } from '../core/run/event.ts';
import { addMicros } from '../core/run/ledger.ts';
import { addTokens, type ModelShare, NO_TOKENS, sumTokens, type Tokens } from '../core/run/tokens.ts';
import { AgentLabels } from './agent-labels.ts';
import { RunTally, type StateTally, type TallyData } from './run-tally.ts';
import { type RunWarnings, WarningCollector, type WarningData } from './warnings.ts';
import type { WorkTime } from './work-time.ts';

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
  /** The record of each state, in the order of first visits. */
  readonly states: readonly StateTally[];
  /** The latest transitions, in order. */
  readonly transitions: readonly RecordedTransition[];
  readonly agents: ReadonlyMap<string, AgentHistory>;
  readonly labels: AgentLabels;
  /** The use of each model, the most expensive first. */
  readonly models: readonly ModelShare[];
  readonly warnings: RunWarnings;
  /** When the run ended; null if it continues. */
  readonly endedAt: number | null;
}

const NO_TURNS: TurnTotals = { turnsMs: 0, tokens: NO_TOKENS };

/** Reads all events of a run and keeps its latest `maxTransitions` transitions. */
export async function collectHistory(
  events: AsyncIterable<Event> | Iterable<Event>,
  maxTransitions: number,
): Promise<RunHistory> {
  const collector = new HistoryCollector(maxTransitions);
  const labels = new AgentLabels();
  for await (const event of events) {
    collector.observe(event);
    labels.observe(event);
  }
  return { ...collector.history, labels };
}

/** The history of a run as plain data, of a size that does not grow with the number of events. */
export interface HistoryData extends Pick<RunHistory, 'transitions' | 'endedAt'> {
  readonly tally: TallyData;
  readonly agents: readonly (readonly [string, AgentHistory])[];
  readonly turnsInState: readonly (readonly [string, TurnTotals])[];
  readonly models: readonly ModelShare[];
  readonly warnings: WarningData;
}

/** Collects the history of a run from its events, and keeps its latest `maxTransitions` transitions. */
export class HistoryCollector {
  private readonly maxTransitions: number;
  private readonly tally: RunTally;
  private endedAt: number | null = null;
  private readonly transitions: RecordedTransition[] = [];
  private readonly agents = new Map<string, AgentHistory>();
  /** The turns of each agent since it entered its state. */
  private readonly turnsInState = new Map<string, TurnTotals>();
  private readonly models = new Map<string, ModelShare>();
  private readonly warnings: WarningCollector;

  /** With `past`, it continues where that ends. */
  constructor(maxTransitions: number, past?: HistoryData) {
    this.maxTransitions = maxTransitions;
    this.tally = new RunTally(past?.tally);
    this.warnings = past === undefined ? new WarningCollector() : WarningCollector.fromData(past.warnings);
    if (past === undefined) return;
    this.endedAt = past.endedAt;
    this.transitions.push(...past.transitions);
    for (const [id, agent] of past.agents) this.agents.set(id, agent);
    for (const [id, turns] of past.turnsInState) this.turnsInState.set(id, turns);
    for (const share of past.models) this.models.set(share.model, share);
  }

  /** Adds an event. */
  observe(event: Event): void {
    this.tally.count(event);
    this.warnings.observe(event);
    if (event.kind === 'run_ended') this.endedAt = event.at;
    if (event.kind === 'run_resumed') this.endedAt = null;
    if (!('agent' in event)) return;
    const { agent, at } = event;
    const before = this.agents.get(agent) ?? { ...NO_TURNS, startedAt: at };
    this.agents.set(agent, { ...before, ...addTurn(before, event), lastAt: at });
    const inState = addTurn(this.turnsInState.get(agent) ?? NO_TURNS, event);
    this.turnsInState.set(agent, inState);
    if (event.kind === 'turn_ended' || event.kind === 'cost_corrected')
      for (const share of event.models) addModel(this.models, share);
    if (event.kind !== 'transition') return;
    this.turnsInState.delete(agent);
    this.transitions.push({ ...event, ...inState });
    if (this.transitions.length > this.maxTransitions) this.transitions.shift();
  }

  /** The history so far. */
  get history(): Omit<RunHistory, 'labels'> {
    const { transitions, agents, endedAt } = this;
    const { worked, states } = this.tally;
    const models = [...this.models.values()].sort((a, b) => b.micros - a.micros);
    return { worked, states, transitions, agents, models, warnings: this.warnings.warnings, endedAt };
  }

  /** Forgets all agents but these: an endless run has any number of them. */
  retainAgents(ids: ReadonlySet<string>): void {
    for (const map of [this.agents, this.turnsInState]) for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    this.tally.retainAgents(ids);
    this.warnings.retainAgents(ids);
  }

  /** The history so far as plain data. */
  toData(): HistoryData {
    const { tally, endedAt, transitions, agents, turnsInState, models, warnings } = this;
    return {
      tally: tally.toData(),
      endedAt,
      transitions,
      agents: [...agents],
      turnsInState: [...turnsInState],
      models: [...models.values()],
      warnings: warnings.toData(),
    };
  }
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
