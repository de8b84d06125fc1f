import { appendFileSync, writeFileSync } from 'node:fs';
import type { Doing } from '../../core/run/activity.ts';
import type { CostReport } from '../../core/run/ledger.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { isFolderName } from '../../scenario/answer-schema.ts';
import type { CannedAnswer } from '../../scenario/scenario.ts';
import { detailFieldOf } from '../claude/activity.ts';
import { type ClaudeEvent, parseClaudeEvent } from '../claude/event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, type Transcript } from '../claude/transcript.ts';

/*
 * The lines that Claude Code would print, with the fields that are read.
 */

/** One line of a turn's output, before it becomes JSON. */
export type StreamLine = Readonly<Record<string, unknown>>;

/** The model that the lines name, which no real one is called. */
export const REPLAY_MODEL = 'replay';

/** A cost that nobody pays, of no model. */
export const cannedCost = ({ kind, micros }: CostReport): CostReport => ({ kind, micros, canned: true });

/** The conversation is open. */
export const initLine = (session: string, cwd: string): StreamLine => {
  return { type: 'system', subtype: 'init', session_id: session, model: REPLAY_MODEL, cwd };
};

/** The conversation was summarized. */
export const compactedLine = (session: string): StreamLine => {
  return { type: 'system', subtype: 'compact_boundary', session_id: session };
};

/** A message with a tool use or a text; `number` distinguishes the messages of a turn. */
export function actionLine({ doing, file }: CannedAction, number: number, session: string): StreamLine {
  const block =
    doing.kind === 'says'
      ? { type: 'text', text: doing.text }
      : {
          type: 'tool_use',
          id: `toolu_${number}`,
          name: doing.tool,
          input: { ...toolInput(doing.tool, doing.detail), ...(file !== null && { content: file[1] }) },
        };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: REPLAY_MODEL, content: [block] };
  return { type: 'assistant', message, parent_tool_use_id: null, session_id: session };
}

/** The result of a tool; null for a text. */
export function toolResultLine({ doing, denied }: CannedAction, number: number, session: string): StreamLine | null {
  if (doing.kind === 'says') return null;
  const content = denied ? `${doing.tool} was not permitted.` : '';
  const block = { type: 'tool_result', tool_use_id: `toolu_${number}`, content, is_error: denied };
  const message = { role: 'user', content: [block] };
  return { type: 'user', message, parent_tool_use_id: null, session_id: session };
}

/** The message that Claude Code makes up when the API has sent none. */
export const syntheticLine = (text: string, error: string, session: string): StreamLine => ({
  type: 'assistant',
  message: { id: 'msg_0', type: 'message', role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text }] },
  parent_tool_use_id: null,
  session_id: session,
  error,
});

/** How full the 5-hour window is, if an answer says so. */
export function quotaLines(
  { quotaPercent, resetsInSeconds }: CannedAnswer,
  session: string,
  nowMs: number,
): StreamLine[] {
  if (quotaPercent === null) return [];
  const resetsAt = Math.ceil(nowMs / 1000 + resetsInSeconds);
  const info = { status: 'allowed', resetsAt, rateLimitType: 'five_hour', utilization: quotaPercent / 100 };
  return [{ type: 'rate_limit_event', rate_limit_info: info, session_id: session }];
}

/** The result of the turn. */
export const resultLine = (
  { text, costUsd, deny }: Pick<CannedAnswer, 'text' | 'costUsd' | 'deny'>,
  session: string,
  overrides: StreamLine = {},
): StreamLine => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: text,
  stop_reason: 'end_turn',
  session_id: session,
  total_cost_usd: costUsd,
  terminal_reason: 'completed',
  permission_denials: deny.map(parseToolUse).map(({ tool, detail }) => {
    return { tool_name: tool, tool_input: toolInput(tool, detail) };
  }),
  ...overrides,
});

const toolInput = (tool: string, detail: string): Readonly<Record<string, string>> =>
  detail === '' ? {} : { [detailFieldOf(tool) ?? 'description']: detail };

/**
 * The output of a canned turn. It goes to the turn's folder and is parsed as if Claude Code had printed it: the outcome
 * of the turn is judged by the same code.
 */
export class ReplayOutput {
  transcript: Transcript = EMPTY_TRANSCRIPT;
  private readonly file: string;
  private readonly onEvent: (event: ClaudeEvent) => void;
  private pending = '';
  private write: typeof appendFileSync = writeFileSync;

  constructor(dir: string, onEvent: (event: ClaudeEvent) => void) {
    this.file = turnFiles(dir).stdout;
    this.onEvent = onEvent;
  }

  print(...lines: readonly StreamLine[]): void {
    for (const line of lines) {
      const printed = JSON.stringify(line);
      this.pending += `${printed}\n`;
      const event = parseClaudeEvent(line, printed);
      this.transcript = addClaudeEvent(this.transcript, event);
      this.onEvent(event);
    }
  }

  /**
   * Writes the printed lines to the file: before time passes, and at the end, because a call takes longer than all
   * lines. The output of an earlier process is overwritten.
   */
  flush(): void {
    if (this.pending === '') return;
    this.write(this.file, this.pending, { mode: 0o600, encoding: 'utf8' });
    this.write = appendFileSync;
    this.pending = '';
  }
}

/** One visible action of a canned turn, and the file that is written with it. */
interface CannedAction {
  readonly doing: Exclude<Doing, { kind: 'prints' | 'retries' }>;
  readonly file: readonly [name: string, content: string] | null;
  readonly denied: boolean;
}

const WRITE_TOOLS = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** Lists the actions of a canned turn in order: its tools with the files they write, the other files, its text. */
export function listCannedActions({ uses, deny, write, text }: CannedAnswer): readonly CannedAction[] {
  const unwritten = new Map(Object.entries(write));
  const toolActions = uses.map((use): CannedAction => {
    const doing = parseToolUse(use);
    const content = WRITE_TOOLS.includes(doing.tool) ? unwritten.get(doing.detail) : undefined;
    if (content !== undefined) unwritten.delete(doing.detail);
    return { doing, file: content === undefined ? null : [doing.detail, content], denied: false };
  });
  const fileActions = [...unwritten].map(([name, content]): CannedAction => {
    const [tool, detail] = isFolderName(name) ? ['Bash', `mkdir -p ${name}`] : ['Write', name];
    return { doing: { kind: 'uses', tool, detail }, file: [name, content], denied: false };
  });
  const deniedActions = deny.map((use): CannedAction => ({ doing: parseToolUse(use), file: null, denied: true }));
  const textActions: readonly CannedAction[] =
    text === '' ? [] : [{ doing: { kind: 'says', text }, file: null, denied: false }];
  return [...toolActions, ...fileActions, ...deniedActions, ...textActions];
}

/** Parses `Bash npm test` into a tool and its input. */
function parseToolUse(text: string): Extract<Doing, { kind: 'uses' }> {
  const [, tool = '', detail = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(text) ?? [];
  return { kind: 'uses', tool, detail };
}
