import type { EdgeTerm } from '../graph/graph.ts';
import { formatJson } from '../language/text/json.ts';
import { formatCount, formatDollars, formatElapsed } from '../render/format.ts';
import { shorten } from '../render/text-width.ts';
import type { Arrow, PresentAgent, StateShape } from './diagram.ts';

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
  const { description, maxVisits, maxVisitsPer } = shape;
  const limit = maxVisits === null ? null : `at most ${maxVisits}×${maxVisitsPer === 'call' ? ' per call' : ''}`;
  const notes = [description, explainUnenterable(shape), limit, formatVisitSummary(shape)].map((note) =>
    shortenLabel(note ?? '', MAX_SHAPE_NOTE_LENGTH),
  );
  return notes.filter((note) => note !== '');
}

/** A text in one line, shortened to a length. */
export const shortenLabel = (text: string, maxLength: number): string =>
  shorten(replaceInvisible(text).replace(/\s+/g, ' ').trim(), maxLength);

/** A longer text of a result would make the label of its arrow too wide. */
const MAX_PAYLOAD_LENGTH = 24;

/** The text that a policy demands of a result, short enough for the label of an arrow. */
export const formatPayload = (payload: string): string => shortenLabel(payload, MAX_PAYLOAD_LENGTH);

/** `worktree`, `group docs`, `wait any`, `cancel`: the attribute of a tag as it stands on its arrow. */
export const formatEdgeTerm = ({ kind, value }: EdgeTerm): string =>
  value === null ? kind : `${kind} ${formatPayload(value)}`;

/** True if a run is drawn that was never in this state. States that cannot be entered are marked in another way. */
export const isUnvisited = (shape: StateShape, hasRun: boolean): boolean =>
  hasRun && shape.tally === null && shape.agents.length === 0 && explainUnenterable(shape) === null;

const MAX_NAMED_AGENTS = 3;

/** The labels of agents, and how many more there are. */
function listAgentNames(agents: readonly PresentAgent[]): readonly string[] {
  const named = agents.slice(0, MAX_NAMED_AGENTS).map(({ label, doing, worktree }) => {
    const notes = [...(UNMARKED_PHASES.has(doing) ? [] : [doing]), ...(worktree === null ? [] : ['in a worktree'])];
    return notes.length === 0 ? label : `${label} (${notes.join(', ')})`;
  });
  const remaining = agents.length - named.length;
  return [...named, ...(remaining > 0 ? [`${remaining} more`] : [])];
}

/** The phases that are not written behind an agent's name: what agents usually do, and `failed`, which has its own sign. */
const UNMARKED_PHASES = new Set<PresentAgent['doing']>(['running', 'ready', 'failed']);

/** Splits agents into those that may continue and those that failed. */
export function splitByFailure(agents: readonly PresentAgent[]): {
  here: readonly PresentAgent[];
  failed: readonly PresentAgent[];
} {
  const hasFailed = ({ doing }: PresentAgent): boolean => doing === 'failed';
  return { here: agents.filter((agent) => !hasFailed(agent)), failed: agents.filter(hasFailed) };
}

/** The agents in a state, a line for each of the first few: `▶ main`, `✗ main_work3 item=login`. */
export function formatAgentLines(agents: readonly PresentAgent[]): readonly string[] {
  const { here, failed } = splitByFailure(agents);
  return [...listAgentNames(here).map((name) => `▶ ${name}`), ...listAgentNames(failed).map((name) => `✗ ${name}`)];
}

/** The text on an arrow: its labels, and how often it was taken. */
export function formatArrowLabel({ labels, times }: Arrow): string {
  const text = labels.join(', ');
  return times === null || times === 0 || text === '' ? text : `${text} ×${times}`;
}

/** Characters that XML does not allow, and those that change the direction of text. */
const INVISIBLE =
  /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces every character that cannot be seen by �. */
export const replaceInvisible = (text: string): string => text.replace(INVISIBLE, '\ufffd');

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, SVG, and attributes of either. */
export const escapeMarkup = (text: string): string =>
  replaceInvisible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Data as JSON for a script element: nothing in it can end the element. */
export const escapeScriptData = (data: unknown): string => formatJson(data).replaceAll('<', '\\u003c');
