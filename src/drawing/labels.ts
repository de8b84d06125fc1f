import { formatCount, formatDollars, formatElapsed } from '../events/format.ts';
import { shorten } from '../events/text-width.ts';
import type { Arrow, PresentAgent, StateShape } from './diagram.ts';
import { replaceInvisible } from './escape.ts';

/** What a run did in a state, in a line: `3 visits, 12.4s, $0.31`; null if it was never there. */
export function formatVisitSummary({ tally }: StateShape): string | null {
  if (tally === null) return null;
  const cost = tally.micros === 0 ? [] : [formatDollars(tally.micros)];
  return [formatCount(tally.visits, 'visit'), formatElapsed(tally.ms), ...cost].join(', ');
}

/** Why a shape is no state that could be entered; null if it is one. */
export function explainUnenterable({ kind, couldBe }: StateShape): string | null {
  if (kind === 'ambiguous') return `ambiguous: ${couldBe.join(' or ')}`;
  return kind === 'missing' ? 'missing' : kind === 'gone' ? 'no longer there' : null;
}

/** More than this below the name of a state would make its box too wide. */
export const MAX_SHAPE_NOTE_LENGTH = 36;

/** What there is to know about a state at first sight besides its name and who is there, in short lines. */
export function listShapeNotes(shape: StateShape): readonly string[] {
  const { description, maxVisits } = shape;
  const limit = maxVisits === null ? null : `at most ${maxVisits}×`;
  const notes = [description, explainUnenterable(shape), limit, formatVisitSummary(shape)].map((note) =>
    shortenLabel(note ?? '', MAX_SHAPE_NOTE_LENGTH),
  );
  return notes.filter((note) => note !== '');
}

/** A text in one line that is not too long. */
export const shortenLabel = (text: string, maxLength: number): string =>
  shorten(replaceInvisible(text).replace(/\s+/g, ' ').trim(), maxLength);

/** Whether no agent of a run was ever in a state. What cannot be entered is told apart anyway. */
export const isUnvisited = (shape: StateShape, hasRun: boolean): boolean =>
  hasRun && shape.tally === null && shape.agents.length === 0 && explainUnenterable(shape) === null;

const MAX_NAMED_AGENTS = 3;

/** Who is in a state, in a line; null if nobody is. */
function formatAgentNames(agents: readonly PresentAgent[]): string | null {
  if (agents.length === 0) return null;
  const named = agents
    .slice(0, MAX_NAMED_AGENTS)
    .map(({ id, doing }) => (UNMARKED_PHASES.has(doing) ? id : `${id} (${doing})`));
  const remaining = agents.length - named.length;
  return `${named.join(', ')}${remaining > 0 ? ` and ${remaining} more` : ''}`;
}

/** What an agent usually does where it is; what is said in another way where it counts. */
const UNMARKED_PHASES: ReadonlySet<PresentAgent['doing']> = new Set<PresentAgent['doing']>([
  'running',
  'ready',
  'failed',
]);

/** Those that may go on, and those that failed here. */
export function splitByFailure(agents: readonly PresentAgent[]): {
  here: readonly PresentAgent[];
  failed: readonly PresentAgent[];
} {
  const hasFailed = ({ doing }: PresentAgent): boolean => doing === 'failed';
  return { here: agents.filter((agent) => !hasFailed(agent)), failed: agents.filter(hasFailed) };
}

/** Both in lines of their own: `▶ main`, `✗ main_worker3`. */
export function formatAgentLines(agents: readonly PresentAgent[]): readonly string[] {
  const { here, failed } = splitByFailure(agents);
  const lines = [
    ['▶', formatAgentNames(here)],
    ['✗', formatAgentNames(failed)],
  ] as const;
  return lines.flatMap(([sign, text]) => (text === null ? [] : [`${sign} ${text}`]));
}

/** What is written on an arrow. */
export function formatArrowLabel({ labels, times }: Arrow): string {
  const text = labels.join(', ');
  return times === null || times === 0 || text === '' ? text : `${text} ×${times}`;
}
