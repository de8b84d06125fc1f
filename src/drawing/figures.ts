import { shorten } from '../observers/fit.ts';
import { counted, dollars, took } from '../observers/words.ts';
import { visible } from './escape.ts';
import type { Arrow, Present, StateShape } from './picture.ts';

/** What a run did in a state, in a line: `3 visits, 12.4s, $0.31`; null if it was never there. */
export function figuresOf({ done }: StateShape): string | null {
  if (done === null) return null;
  const cost = done.micros === 0 ? [] : [dollars(done.micros)];
  return [counted(done.visits, 'visit'), took(done.ms), ...cost].join(', ');
}

/** Why a shape is no state that could be entered; null if it is one. */
export function remarkOf({ kind, couldBe }: StateShape): string | null {
  if (kind === 'ambiguous') return `ambiguous: ${couldBe.join(' or ')}`;
  return kind === 'missing' ? 'missing' : kind === 'gone' ? 'no longer there' : null;
}

/** More than this below the name of a state would make its box too wide. */
export const LONGEST_NOTE = 36;

/** What there is to know about a state at first sight besides its name and who is there, in short lines. */
export function notesOf(shape: StateShape): readonly string[] {
  const { description, maxVisits } = shape;
  const limit = maxVisits === null ? null : `at most ${maxVisits}×`;
  const notes = [description, remarkOf(shape), limit, figuresOf(shape)].map((note) => inLine(note ?? '', LONGEST_NOTE));
  return notes.filter((note) => note !== '');
}

/** A text in one line that is not too long. */
export const inLine = (text: string, longest: number): string =>
  shorten(visible(text).replace(/\s+/g, ' ').trim(), longest);

/** Whether no agent of a run was ever in a state. What cannot be entered is told apart anyway. */
export const isUntaken = (shape: StateShape, travelled: boolean): boolean =>
  travelled && shape.done === null && shape.agents.length === 0 && remarkOf(shape) === null;

const MOST_NAMED = 3;

/** Who is in a state, in a line; null if nobody is. */
function presenceOf(agents: readonly Present[]): string | null {
  if (agents.length === 0) return null;
  const named = agents.slice(0, MOST_NAMED).map(({ id, doing }) => (PLAIN.has(doing) ? id : `${id} (${doing})`));
  const left = agents.length - named.length;
  return `${named.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** What an agent usually does where it is; what is said in another way where it counts. */
const PLAIN: ReadonlySet<Present['doing']> = new Set<Present['doing']>(['running', 'ready', 'failed']);

/** Those that may go on, and those that failed here. */
export function partedOf(agents: readonly Present[]): { here: readonly Present[]; failed: readonly Present[] } {
  const hasFailed = ({ doing }: Present): boolean => doing === 'failed';
  return { here: agents.filter((agent) => !hasFailed(agent)), failed: agents.filter(hasFailed) };
}

/** Both in lines of their own: `▶ main`, `✗ main_worker3`. */
export function presenceLines(agents: readonly Present[]): readonly string[] {
  const { here, failed } = partedOf(agents);
  const lines = [
    ['▶', presenceOf(here)],
    ['✗', presenceOf(failed)],
  ] as const;
  return lines.flatMap(([sign, said]) => (said === null ? [] : [`${sign} ${said}`]));
}

/** What is written on an arrow. */
export function labelOf({ labels, times }: Arrow): string {
  const said = labels.join(', ');
  return times === null || times === 0 || said === '' ? said : `${said} ×${times}`;
}
