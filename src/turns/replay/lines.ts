import type { Answer } from '../../scenario/scenario.ts';
import { type Act, toolUse } from './acts.ts';

/*
 * The lines that Claude Code would print, as far as anybody reads them.
 */

/** One line of a turn's output, before it is made JSON. */
export type Line = Readonly<Record<string, unknown>>;

const MODEL = 'replay';

/** The conversation is open. */
export const initLine = (session: string, cwd: string): Line => {
  return { type: 'system', subtype: 'init', session_id: session, model: MODEL, cwd };
};

/** A tool in use, or words; `number` tells the messages of a turn apart. */
export function actLine({ doing, file }: Act, number: number, session: string): Line {
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
export function doneLine({ doing, denied }: Act, number: number, session: string): Line | null {
  if (doing.kind === 'says') return null;
  const content = denied ? `${doing.tool} was not permitted.` : '';
  const block = { type: 'tool_result', tool_use_id: `toolu_${number}`, content, is_error: denied };
  const message = { role: 'user', content: [block] };
  return { type: 'user', message, parent_tool_use_id: null, session_id: session };
}

/** The message that Claude Code makes up when it got none. */
export const syntheticLine = (text: string, error: string, session: string): Line => ({
  type: 'assistant',
  message: { id: 'msg_0', type: 'message', role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text }] },
  parent_tool_use_id: null,
  session_id: session,
  error,
});

/** The last word. */
export const resultLine = ({ text, costUsd, deny }: Answer, session: string, more: Line = {}): Line => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: text,
  stop_reason: 'end_turn',
  session_id: session,
  total_cost_usd: costUsd,
  terminal_reason: 'completed',
  permission_denials: deny.map(toolUse).map(({ tool, detail }) => {
    return { tool_name: tool, tool_input: toolInput(tool, detail) };
  }),
  ...more,
});

/** What a tool calls the thing that it is used on. */
const INPUTS: Readonly<Record<string, string>> = {
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
  return detail === '' ? {} : { [(Object.hasOwn(INPUTS, tool) ? INPUTS[tool] : undefined) ?? 'description']: detail };
}
