import type { CannedAnswer } from '../../scenario/scenario.ts';
import { type CannedAction, parseToolUse } from './canned-actions.ts';

/*
 * The lines that Claude Code would print, as far as anybody reads them.
 */

/** One line of a turn's output, before it is made JSON. */
export type StreamLine = Readonly<Record<string, unknown>>;

const MODEL = 'replay';

/** The conversation is open. */
export const initLine = (session: string, cwd: string): StreamLine => {
  return { type: 'system', subtype: 'init', session_id: session, model: MODEL, cwd };
};

/** A tool in use, or words; `number` tells the messages of a turn apart. */
export function actionLine({ doing, file }: CannedAction, number: number, session: string): StreamLine {
  const block =
    doing.kind === 'says'
      ? { type: 'text', text: doing.text }
      : {
          ...{ type: 'tool_use', id: `toolu_${number}`, name: doing.tool },
          input: { ...toolInput(doing.tool, doing.detail), ...(file !== null && { content: file[1] }) },
        };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: MODEL, content: [block] };
  return { type: 'assistant', message, parent_tool_use_id: null, session_id: session };
}

/** What came of a tool. */
export function toolResultLine({ doing, denied }: CannedAction, number: number, session: string): StreamLine | null {
  if (doing.kind === 'says') return null;
  const content = denied ? `${doing.tool} was not permitted.` : '';
  const block = { type: 'tool_result', tool_use_id: `toolu_${number}`, content, is_error: denied };
  const message = { role: 'user', content: [block] };
  return { type: 'user', message, parent_tool_use_id: null, session_id: session };
}

/** The message that Claude Code makes up when it got none. */
export const syntheticLine = (text: string, error: string, session: string): StreamLine => ({
  type: 'assistant',
  message: { id: 'msg_0', type: 'message', role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text }] },
  parent_tool_use_id: null,
  session_id: session,
  error,
});

/** The last word. */
export const resultLine = (
  { text, costUsd, deny }: CannedAnswer,
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

/** What a tool calls the thing that it is used on. */
const INPUT_FIELDS: Readonly<Record<string, string>> = {
  Bash: 'command',
  Edit: 'file_path',
  Glob: 'pattern',
  Grep: 'pattern',
  LS: 'path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
  Read: 'file_path',
  WebFetch: 'url',
  WebSearch: 'query',
  Write: 'file_path',
};

function toolInput(tool: string, detail: string): Readonly<Record<string, string>> {
  return detail === ''
    ? {}
    : { [(Object.hasOwn(INPUT_FIELDS, tool) ? INPUT_FIELDS[tool] : undefined) ?? 'description']: detail };
}
