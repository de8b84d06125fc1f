import { formatCount, formatDollars, formatElapsed } from '../events/format.ts';
import { shorten } from '../events/text-width.ts';
import type { Arrow, PresentAgent, StateShape } from './diagram.ts';
import { replaceInvisible } from './escape.ts';

/** `3 visits, 12.4s, $0.31`: what a run did in a state; null if it was never there. */
export function formatVisitSummary({ tally }: StateShape): string | null {
  if (tally === null) return null;
  const cost = tally.micros === 0 ? [] : [formatDollars(tally.micros)];
  return [formatCount(tally.visits, 'visit'), formatElapsed(tally.ms), ...cost].join(', ');
}

/** Why a state cannot be entered; null if it can. */
export function explainUnenterable({ kind, couldBe }: StateShape): string | null {
  if (kind === 'ambiguous') return `ambiguous: ${couldBe.join(' or ')}`;
  return kind === 'missing' ? 'missing' : kind === 'gone' ? 'no longer there' : null;
}

/** Longer lines below a state's name would make its box too wide. */
export const MAX_SHAPE_NOTE_LENGTH = 36;

/** The short lines below a state's name: its description, its problem, its limit and its visits. */
export function listShapeNotes(shape: StateShape): readonly string[] {
  const { description, maxVisits } = shape;
  const limit = maxVisits === null ? null : `at most ${maxVisits}×`;
  const notes = [description, explainUnenterable(shape), limit, formatVisitSummary(shape)].map((note) =>
    shortenLabel(note ?? '', MAX_SHAPE_NOTE_LENGTH),
  );
  return notes.filter((note) => note !== '');
}

/** A text in one line, shortened to a length. */
export const shortenLabel = (text: string, maxLength: number): string =>
  shorten(replaceInvisible(text).replace(/\s+/g, ' ').trim(), maxLength);

/** Whether a run is drawn that was never in this state. States that cannot be entered are marked in another way. */
export const isUnvisited = (shape: StateShape, hasRun: boolean): boolean =>
  hasRun && shape.tally === null && shape.agents.length === 0 && explainUnenterable(shape) === null;

const MAX_NAMED_AGENTS = 3;

/** The names of agents in a line; null if there are none. */
function formatAgentNames(agents: readonly PresentAgent[]): string | null {
  if (agents.length === 0) return null;
  const named = agents
    .slice(0, MAX_NAMED_AGENTS)
    .map(({ id, doing }) => (UNMARKED_PHASES.has(doing) ? id : `${id} (${doing})`));
  const remaining = agents.length - named.length;
  return `${named.join(', ')}${remaining > 0 ? ` and ${remaining} more` : ''}`;
}

/** The phases that are not written behind an agent's name: what agents usually do, and `failed`, which has its own sign. */
const UNMARKED_PHASES = new Set<PresentAgent['doing']>(['running', 'ready', 'failed']);

/** Splits agents into those that may go on and those that failed. */
export function splitByFailure(agents: readonly PresentAgent[]): {
  here: readonly PresentAgent[];
  failed: readonly PresentAgent[];
} {
  const hasFailed = ({ doing }: PresentAgent): boolean => doing === 'failed';
  return { here: agents.filter((agent) => !hasFailed(agent)), failed: agents.filter(hasFailed) };
}

/** The agents in a state, in up to two lines: `▶ main`, `✗ main_worker3`. */
export function formatAgentLines(agents: readonly PresentAgent[]): readonly string[] {
  const { here, failed } = splitByFailure(agents);
  const lines = [
    ['▶', formatAgentNames(here)],
    ['✗', formatAgentNames(failed)],
  ] as const;
  return lines.flatMap(([sign, text]) => (text === null ? [] : [`${sign} ${text}`]));
}

/** The text on an arrow: its labels, and how often it was taken. */
export function formatArrowLabel({ labels, times }: Arrow): string {
  const text = labels.join(', ');
  return times === null || times === 0 || text === '' ? text : `${text} ×${times}`;
}
