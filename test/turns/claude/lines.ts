import { parseClaudeLine } from '../../../src/turns/claude/event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, type Transcript } from '../../../src/turns/claude/transcript.ts';

/*
 * Lines as Claude Code prints them, cut down to what was seen to matter.
 */

type Fields = Readonly<Record<string, unknown>>;

export type Lines = readonly Fields[];

export const init = (more: Fields = {}): Fields => ({
  type: 'system',
  subtype: 'init',
  session_id: 'S',
  model: 'claude-opus-4-8[1m]',
  claude_code_version: '2.1.197',
  ...more,
});

export const usage = (input: number, output: number, more: Fields = {}): Fields => ({
  input_tokens: input,
  output_tokens: output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  ...more,
});

/** One block of a message. */
export const assistant = (id: string, block: Fields, more: Fields = {}, tokens = usage(1000, 1)): Fields => ({
  type: 'assistant',
  message: { id, role: 'assistant', model: 'claude-opus-4-8', content: [block], stop_reason: null, usage: tokens },
  parent_tool_use_id: null,
  ...more,
});

export const assistantText = (text: string, id = 'msg_1', more: Fields = {}): Fields =>
  assistant(id, { type: 'text', text }, more);

/** The message that Claude Code makes up when it got none. */
export const synthetic = (text: string, error: string | undefined): Fields => ({
  type: 'assistant',
  message: { id: 'u', role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text }], usage: usage(0, 0) },
  parent_tool_use_id: null,
  error,
});

export const result = (more: Fields = {}): Fields => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  api_error_status: null,
  result: 'done',
  stop_reason: 'end_turn',
  session_id: 'S',
  total_cost_usd: 0.0075,
  permission_denials: [],
  terminal_reason: 'completed',
  ...more,
});

/** What is known after these lines. */
export const after = (...lines: Lines): Transcript =>
  lines.reduce((so, line) => addClaudeEvent(so, parseClaudeLine(JSON.stringify(line))), EMPTY_TRANSCRIPT);
