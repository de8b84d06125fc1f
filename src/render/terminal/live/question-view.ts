import { join } from 'node:path';
import type { Event } from '../../../core/run/event.ts';
import type { Choices } from '../../../language/choices.ts';
import { formatClock } from '../../format.ts';
import { listChoiceLines } from '../../questions.ts';
import { sanitize, sanitizeLine } from '../../sanitize.ts';
import { wrapWhole } from '../../text-width.ts';

/** A question that waits, as the live view shows it. */
export interface QuestionView {
  readonly ask: string;
  readonly text: string;
  readonly untilMs: number | null;
  readonly timeoutNext: string | null;
  /** A line for each file that belongs to it. */
  readonly files: readonly string[];
  /** The answers that it offers; null for any. */
  readonly choices: Choices | null;
}

/** A question from the event that asks it. */
export function createQuestionView({
  ask,
  question,
  untilMs,
  taskFolder,
}: Extract<Event, { kind: 'asked' }>): QuestionView {
  const { text, timeoutNext, displayFiles, choices } = question;
  const files = displayFiles.map(({ path, label }) => `${label ?? 'see'}: ${join(taskFolder ?? '', path)}`);
  return { ask, text, untilMs, timeoutNext, files, choices };
}

/** The consequence of no answer, after a comma; empty if the question never expires. */
export const formatDeadline = ({ untilMs, timeoutNext }: QuestionView, now: number): string =>
  untilMs === null ? '' : `, until ${formatClock(untilMs, now)}, then ${sanitizeLine(timeoutNext ?? '')}`;

/** Nobody reads more on a screen. */
const MAX_SHOWN_CHARS = 5_000;

/** A question and its files as lines of at most this width. */
export function wrapQuestion({ text, files, choices }: QuestionView, columns: number): readonly string[] {
  const rest = text.length - MAX_SHOWN_CHARS;
  const shown = sanitize(text.slice(0, MAX_SHOWN_CHARS)).trim();
  return [
    ...wrapWhole(shown, columns),
    ...(rest > 0 ? wrapWhole(`… ${rest} more characters: raymond asks`, columns) : []),
    ...files.flatMap((file) => wrapWhole(sanitizeLine(file), columns)),
    ...listChoiceLines(choices).flatMap((line) => wrapWhole(line, columns)),
  ];
}
