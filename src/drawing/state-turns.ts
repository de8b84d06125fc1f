import type { Event, TurnEnded } from '../core/run/event.ts';
import { type CostCorrected, correctTurn } from '../core/run/worker-event.ts';
import { turnRefOf } from '../core/turns/due.ts';
import { AgentLabels } from '../render/agent-labels.ts';
import { formatElapsed, formatEvent, formatLocalTime, listTurnSpending } from '../render/format.ts';
import { replaceInvisible } from './labels.ts';

/** A turn of a run, and what came of it. */
export interface PastTurn {
  readonly end: TurnEnded;
  readonly label: string;
  /** The event that says what came of it: a transition, a reminder, a failure; null if nothing has yet. */
  readonly outcome: Event | null;
  /** The answer, or the end of a script's output; null if it is not known. */
  readonly answer: ShownAnswer | null;
}

/** The visible part of a turn's final answer. */
export interface ShownAnswer {
  readonly text: string;
  /** True if text is left out, before or after it. */
  readonly isCut: boolean;
}

/** The latest turns in a state, in order, and how many there were before them. */
export interface StateTurns {
  readonly turns: readonly PastTurn[];
  readonly leftOut: number;
}

/** The turns of a run by state. */
export type TurnsByState = ReadonlyMap<string, StateTurns>;

/** The turns that a page shows for each state: a long run has many thousands. */
const MAX_TURNS_PER_STATE = 20;

/** The kinds of events that say what came of a turn. */
const OUTCOMES: ReadonlySet<Event['kind']> = new Set<Event['kind']>([
  'transition',
  'evaluated',
  'reminded',
  'sleeping',
  'session_lost',
  'answer_withheld',
  'agent_paused',
  'agent_failed',
]);

/** Collects the latest turns in each state from the events of a run. */
export class TurnCollector {
  private readonly labels = new AgentLabels();
  private readonly byState = new Map<string, { turns: PastTurn[]; leftOut: number }>();
  /** The agents whose last turn still has no outcome, and that turn. */
  private readonly open = new Map<string, PastTurn>();

  /** Adds an event. */
  add(event: Event): void {
    this.labels.observe(event);
    if (event.kind === 'turn_ended') this.addTurn(event);
    if (event.kind === 'cost_corrected') this.correct(event);
    if (OUTCOMES.has(event.kind) && 'agent' in event) this.addOutcome(event.agent, event);
    if (event.kind === 'agent_ended') this.labels.forget(event.agent);
  }

  get states(): TurnsByState {
    return this.byState;
  }

  private addTurn(end: TurnEnded): void {
    const turn: PastTurn = { end, label: this.labels.of(end.agent), outcome: null, answer: null };
    const { state } = turnRefOf(end);
    const entry = this.byState.get(state) ?? { turns: [], leftOut: 0 };
    this.byState.set(state, entry);
    entry.turns.push(turn);
    if (entry.turns.length > MAX_TURNS_PER_STATE) {
      entry.turns.shift();
      entry.leftOut += 1;
    }
    this.open.set(end.agent, turn);
  }

  private correct(event: CostCorrected): void {
    const turns = this.byState.get(turnRefOf(event).state)?.turns ?? [];
    const at = turns.findIndex(({ end }) => end.agent === event.agent && end.turn === event.turn);
    const turn = turns[at];
    if (turn === undefined) return;
    const corrected = { ...turn, end: correctTurn(turn.end, event) };
    turns[at] = corrected;
    if (this.open.get(event.agent) === turn) this.open.set(event.agent, corrected);
  }

  private addOutcome(agent: string, outcome: Event): void {
    const turn = this.open.get(agent);
    this.open.delete(agent);
    const turns = turn && this.byState.get(turnRefOf(turn.end).state)?.turns;
    if (turn === undefined || turns === undefined) return;
    const at = turns.indexOf(turn);
    if (at >= 0) turns[at] = { ...turn, outcome };
  }
}

/** A turn as the page shows it: plain text. */
export interface CardTurn {
  readonly title: string;
  readonly figures: string;
  readonly outcome: string;
  readonly failed: boolean;
  readonly denied: readonly string[];
  readonly answer: string;
  readonly note: string;
}

/** The turns of a state as the page shows them, the latest first. */
export interface CardTurns {
  readonly shown: readonly CardTurn[];
  readonly leftOut: number;
}

/** Creates what the page shows of the turns in a state; null if there are none. */
export function createCardTurns(state: StateTurns | undefined): CardTurns | null {
  return state === undefined ? null : { shown: state.turns.map(createCardTurn).toReversed(), leftOut: state.leftOut };
}

const MAX_OUTCOME_LENGTH = 500;
const MAX_DENIALS = 20;
const MAX_DENIAL_LENGTH = 300;

function createCardTurn({ end, label, outcome, answer }: PastTurn): CardTurn {
  const { turn, at, durationMs, failure, denials } = end;
  // Without the label, which the title has.
  const words = outcome === null ? '' : (formatEvent(outcome, () => '') ?? '').replaceAll(/^\[\] /gm, '');
  return {
    title: replaceInvisible(`${label}, turn ${turn}`),
    figures: [formatLocalTime(at - durationMs), formatElapsed(durationMs), ...listTurnSpending(end)].join(', '),
    outcome: cut(failure !== null && words === '' ? `failed (${failure})` : words, MAX_OUTCOME_LENGTH),
    failed: failure !== null || outcome?.kind === 'agent_failed' || outcome?.kind === 'agent_paused',
    denied: [...new Set(denials)].slice(0, MAX_DENIALS).map((tool) => cut(tool, MAX_DENIAL_LENGTH)),
    answer: replaceInvisible(answer?.text ?? ''),
    note: answer === null ? NO_FILES_NOTE : answer.isCut ? CUT_NOTE : answer.text === '' ? 'It said nothing.' : '',
  };
}

const NO_FILES_NOTE = 'What it said is not on this page: raymond logs has it, if its files are still there.';
const CUT_NOTE = 'This is only a part of it: raymond logs has it all.';

const cut = (text: string, maxLength: number): string =>
  replaceInvisible(text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);
