import type { ClaudeActivity } from '../core/run/activity.ts';
import { formatApiRetry } from './format.ts';
import { sanitize } from './sanitize.ts';
import type { TextStyle } from './text-style.ts';

/** One thing from the files of a turn: part of its prompt, its answer, a tool use, or a line of output. */
export type LogEntry =
  /** A line of the prompt. */
  | { readonly kind: 'asked'; readonly text: string }
  | Exclude<ClaudeActivity, { kind: 'prints' }>
  /** A line of output; on stderr if `isError`. */
  | { readonly kind: 'prints'; readonly text: string; readonly isError?: boolean }
  /** Lines that were left out because there are too many; `file` has them all. */
  | { readonly kind: 'left_out'; readonly lines: number; readonly file: string };

/** A line of a log with its style, before it is indented. */
export interface StyledLine {
  /** How many steps it is indented. */
  readonly indent: number;
  readonly text: string;
  readonly style?: TextStyle;
}

const MAX_TOOL_RESULT_LINES = 3;
const MAX_ERROR_LINES = 10;
const MAX_RESULT_CHARS = 200;
const MAX_LINE_CHARS = 2_000;

/** Renders the entries of one turn as lines, one after the other. */
export class TurnRenderer {
  /** Tool uses by id whose results are still to come. */
  private readonly pendingTools = new Map<string, string>();
  private previous: LogEntry | null = null;

  /** The lines for an entry. */
  render(entry: LogEntry): readonly StyledLine[] {
    const lines = this.renderEntry(entry);
    this.previous = entry;
    return lines;
  }

  private renderEntry(entry: LogEntry): readonly StyledLine[] {
    switch (entry.kind) {
      case 'asked': {
        const line: StyledLine = { indent: 2, text: truncate(joinLines(entry.text), MAX_LINE_CHARS), style: 'dim' };
        return this.previous === null ? [{ indent: 1, text: 'prompt', style: 'dim' }, line] : [line];
      }
      case 'says': {
        const indent = entry.below ? 2 : 1;
        return trimLines(entry.text).map((line) => ({ indent, text: `| ${line}`.trimEnd() }));
      }
      case 'uses': {
        const use = truncate(joinLines(`${entry.tool} ${entry.detail}`), MAX_RESULT_CHARS);
        this.pendingTools.set(entry.id, use);
        return [{ indent: entry.below ? 2 : 1, text: `> ${use}`, style: 'cyan' }];
      }
      case 'gets':
        return this.renderToolResult(entry);
      case 'retries':
        return [{ indent: 1, text: `! ${joinLines(formatApiRetry(entry, entry.delayMs))}`, style: 'yellow' }];
      case 'prints': {
        const text = truncate(joinLines(keepLastOverwrite(entry.text)), MAX_LINE_CHARS);
        if (entry.isError) return [{ indent: 1, text: `! ${text}`.trimEnd(), style: 'yellow' }];
        return [{ indent: 1, text: `| ${text}`.trimEnd() }];
      }
      case 'left_out': {
        const text = `… ${entry.lines} more ${entry.lines === 1 ? 'line' : 'lines'} in ${joinLines(entry.file)}`;
        return [{ indent: this.previous?.kind === 'asked' ? 2 : 1, text, style: 'dim' }];
      }
    }
  }

  /** The result of a tool, under the tool's name unless that is right above. */
  private renderToolResult(entry: ToolResult): readonly StyledLine[] {
    const { previous } = this;
    const use = this.pendingTools.get(entry.id);
    this.pendingTools.delete(entry.id);
    const indent = entry.below ? 4 : 3;
    const lines = renderResultLines(entry).map((line) => ({ indent, ...line }));
    const isRightAbove = previous?.kind === 'uses' && previous.id === entry.id;
    if (use === undefined || isRightAbove || lines.length === 0) return lines;
    return [{ indent: indent - 1, text: `${use}:`, style: 'dim' }, ...lines];
  }
}

type ToolResult = Extract<LogEntry, { kind: 'gets' }>;

/** The first lines of a tool's result; more of them if it is an error. */
function renderResultLines({ text, isError }: ToolResult): readonly Omit<StyledLine, 'indent'>[] {
  const maxLines = isError ? MAX_ERROR_LINES : MAX_TOOL_RESULT_LINES;
  // Cut before it is split: a result may be many megabytes long.
  const lines = trimLines(text.slice(0, (maxLines + 1) * MAX_RESULT_CHARS * 10));
  const shown = lines.slice(0, maxLines).map((line) => `${isError ? '! ' : ''}${truncate(line, MAX_RESULT_CHARS)}`);
  const cutOff = lines.length > maxLines ? ['…'] : [];
  return [...shown, ...cutOff].map((line) => ({ text: line, style: isError ? 'red' : 'dim' }));
}

/** The lines of a text, without empty lines at its beginning and end. */
const trimLines = (text: string): readonly string[] => {
  const trimmed = sanitize(text)
    .replace(/^\s*\n/, '')
    .trimEnd();
  return trimmed === '' ? [] : trimmed.split('\n').map((line) => line.trimEnd());
};

/** A text in one line, with its spaces kept. */
const joinLines = (text: string): string => sanitize(text).trimEnd().replaceAll('\n', ' ');

/** The final text of a line that was overwritten with carriage returns. */
const keepLastOverwrite = (text: string): string => {
  let end = text.length;
  while (text[end - 1] === '\r') end -= 1;
  return text.slice(end === 0 ? 0 : text.lastIndexOf('\r', end - 1) + 1, end);
};

function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '');
  return `${kept}… (${text.length - kept.length} more characters)`;
}
