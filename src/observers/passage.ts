import type { Deed } from '../core/activity.ts';
import { harmless } from './harmless.ts';
import type { Ink } from './ink.ts';

/** A piece of what a turn left behind: what was asked, said, done or printed. */
export type Passage =
  /** A line of the prompt. */
  | { readonly kind: 'asked'; readonly text: string }
  | Exclude<Deed, { kind: 'prints' }>
  /** A line of a process, on its stderr if it is an error. */
  | { readonly kind: 'prints'; readonly text: string; readonly isError?: boolean }
  | { readonly kind: 'left_out'; readonly lines: number; readonly file: string };

/** A line of a story, before it has its place on the page. */
export interface StoryLine {
  /** How far it stands from the margin, in steps. */
  readonly indent: number;
  readonly text: string;
  readonly ink?: Ink;
}

const MOST_RESULT_LINES = 3;
const MOST_ERROR_LINES = 10;
const LONGEST_RESULT = 200;
const LONGEST_LINE = 2_000;

/** Puts the passages of one turn into lines, one after the other. */
export class Tale {
  /** Tools whose results are still to come. */
  private readonly uses = new Map<string, string>();
  private last: Passage | null = null;

  tell(passage: Passage): readonly StoryLine[] {
    const lines = this.linesOf(passage);
    this.last = passage;
    return lines;
  }

  private linesOf(passage: Passage): readonly StoryLine[] {
    switch (passage.kind) {
      case 'asked': {
        const line: StoryLine = { indent: 2, text: cut(oneOf(passage.text), LONGEST_LINE), ink: 'dim' };
        return this.last === null ? [{ indent: 1, text: 'prompt', ink: 'dim' }, line] : [line];
      }
      case 'says': {
        const indent = passage.below ? 2 : 1;
        return linesOf(passage.text).map((line) => ({ indent, text: `| ${line}`.trimEnd() }));
      }
      case 'uses': {
        const use = cut(oneOf(`${passage.tool} ${passage.detail}`), LONGEST_RESULT);
        this.uses.set(passage.id, use);
        return [{ indent: passage.below ? 2 : 1, text: `> ${use}`, ink: 'cyan' }];
      }
      case 'gets':
        return this.resultOf(passage);
      case 'retries': {
        const why = passage.error === null ? '' : ` (${oneOf(passage.error)})`;
        const which = passage.attempt === null ? '' : `: retry ${passage.attempt}`;
        return [{ indent: 1, text: `! the API failed${why} and is asked again${which}`, ink: 'yellow' }];
      }
      case 'prints': {
        const text = cut(oneOf(overwritten(passage.text)), LONGEST_LINE);
        if (passage.isError) return [{ indent: 1, text: `! ${text}`.trimEnd(), ink: 'yellow' }];
        return [{ indent: 1, text: `| ${text}`.trimEnd() }];
      }
      case 'left_out': {
        const text = `… ${passage.lines} more ${passage.lines === 1 ? 'line' : 'lines'} in ${oneOf(passage.file)}`;
        return [{ indent: this.last?.kind === 'asked' ? 2 : 1, text, ink: 'dim' }];
      }
    }
  }

  /** What a tool gave back, under its name unless that stands right above. */
  private resultOf(passage: ToolResult): readonly StoryLine[] {
    const { last } = this;
    const use = this.uses.get(passage.id);
    this.uses.delete(passage.id);
    const indent = passage.below ? 4 : 3;
    const lines = resultLines(passage).map((line) => ({ indent, ...line }));
    const isRightAbove = last?.kind === 'uses' && last.id === passage.id;
    if (use === undefined || isRightAbove || lines.length === 0) return lines;
    return [{ indent: indent - 1, text: `${use}:`, ink: 'dim' }, ...lines];
  }
}

type ToolResult = Extract<Passage, { kind: 'gets' }>;

/** The beginning of what a tool gave back; more of it if it was an error. */
function resultLines({ text, isError }: ToolResult): readonly Omit<StoryLine, 'indent'>[] {
  const most = isError ? MOST_ERROR_LINES : MOST_RESULT_LINES;
  // The beginning is cut off first: a result may be many megabytes long.
  const lines = linesOf(text.slice(0, (most + 1) * LONGEST_RESULT * 10));
  const shown = lines.slice(0, most).map((line) => `${isError ? '! ' : ''}${cut(line, LONGEST_RESULT)}`);
  const cutOff = lines.length > most ? ['…'] : [];
  return [...shown, ...cutOff].map((line) => ({ text: line, ink: isError ? 'red' : 'dim' }));
}

/** The lines of a text, without empty ones around them. */
const linesOf = (text: string): readonly string[] => {
  const whole = harmless(text)
    .replace(/^\s*\n/, '')
    .trimEnd();
  return whole === '' ? [] : whole.split('\n').map((line) => line.trimEnd());
};

/** What was meant to be one line stays one. */
const oneOf = (text: string): string => harmless(text).trimEnd().replaceAll('\n', ' ');

/** What a terminal would show in the end of a line that was written over and over. */
const overwritten = (text: string): string => {
  const line = text.replace(/\r+$/, '');
  return line.slice(line.lastIndexOf('\r') + 1);
};

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
  return `${kept}… (${text.length - kept.length} more characters)`;
}
