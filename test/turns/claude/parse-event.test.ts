import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseClaudeLine } from '../../../src/turns/claude/event.ts';
import { assistant, assistantText, init, result, synthetic, usage } from './lines.ts';

const read = (line: object) => parseClaudeLine(JSON.stringify(line));
const NONE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 };

test('the first event has session, model and version', () => {
  expect(read(init())).toStrictEqual({
    kind: 'init',
    sessionId: 'S',
    model: 'claude-opus-4-8[1m]',
    version: '2.1.197',
    cwd: null,
  });
});

test('a block of a message has its usage and length', () => {
  const tokens = usage(10, 2, {
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 50,
    cache_creation: { ephemeral_1h_input_tokens: 20, ephemeral_5m_input_tokens: 30 },
  });
  expect(read(assistant('m', { type: 'text', text: 'hello' }, {}, tokens))).toStrictEqual({
    kind: 'assistant',
    messageId: 'm',
    model: 'claude-opus-4-8',
    synthetic: false,
    thread: null,
    uuid: null,
    text: 'hello',
    blocks: [{ kind: 'text', text: 'hello' }],
    usage: { input: 10, output: 2, cacheRead: 30, cacheWrite: 30, cacheWriteLong: 20 },
    writtenChars: 5,
    error: null,
  });
});

test.each([
  ['a tool use, by its input', { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } }, 16],
  ['thinking, by its text', { type: 'thinking', thinking: 'hmmm', signature: 'ab' }, 4],
  ['thinking that is kept back, by its signature', { type: 'thinking', thinking: '', signature: 'x'.repeat(400) }, 300],
])('%s is measured', (_, block, written) => {
  expect(read(assistant('m', block))).toMatchObject({ text: null, writtenChars: written });
});

test('a sub-agent has its own thread, and synthetic messages are marked', () => {
  expect(read(assistantText('x', 'm', { parent_tool_use_id: 'toolu_1' }))).toMatchObject({ thread: 'toolu_1' });
  expect(read(synthetic('API Error', 'server_error'))).toMatchObject({ synthetic: true, error: 'server_error' });
});

test('a result is read from every version', () => {
  const models = { 'claude-opus-5-5': { inputTokens: 1000, outputTokens: 100, costUSD: 0.006 } };
  const line = result({
    modelUsage: models,
    model_usage_since_last_result: models,
    permission_denials: [
      { tool_name: 'Bash', tool_input: { command: 'npm\n install x' } },
      { tool_name: 'Task' },
      'odd',
    ],
    origin: { kind: 'task-notification' },
  });
  expect(read(line)).toStrictEqual({
    kind: 'result',
    subtype: 'success',
    isError: false,
    text: 'done',
    errors: [],
    sessionId: 'S',
    apiErrorStatus: null,
    terminalReason: 'completed',
    stopReason: 'end_turn',
    totalCostUsd: 0.0075,
    models: [{ model: 'claude-opus-5-5', usage: { ...NONE, input: 1000, output: 100 }, costUsd: 0.006 }],
    modelsSinceLast: [{ model: 'claude-opus-5-5', usage: { ...NONE, input: 1000, output: 100 }, costUsd: 0.006 }],
    denials: ['Bash(npm install x)', 'Task'],
    cause: 'other',
  });
  expect(read({ type: 'result' })).toMatchObject({
    isError: true,
    text: null,
    totalCostUsd: null,
    modelsSinceLast: null,
  });
});

test.each([true, 'false', 0, null, undefined])('only a plain false is a success, not %j', (is_error) => {
  expect(read(result({ is_error }))).toMatchObject({ isError: true });
});

test.each([
  [
    'a tool result',
    { type: 'user', parent_tool_use_id: 't' },
    { kind: 'tool_results', thread: 't', uuid: null, results: [], echoOf: null },
  ],
  [
    'a limit',
    {
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt: 1794789626, rateLimitType: 'five_hour' },
    },
    { kind: 'rate_limit', status: 'rejected', resetsAt: 1794789626, utilization: null, type: 'five_hour', windows: [] },
  ],
  [
    'no limit',
    { type: 'rate_limit_event', rate_limit_info: { status: 'allowed' } },
    { kind: 'rate_limit', status: 'allowed', resetsAt: null, utilization: null, type: null, windows: [] },
  ],
  [
    'a retry',
    { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 10, error_status: 529, error: 'overloaded' },
    { kind: 'retry', attempt: 1, limit: 10, delayMs: null, status: 529, error: 'overloaded' },
  ],
  ['a type nobody knows', { type: 'telepathy' }, { kind: 'other', type: 'telepathy' }],
  [
    'a subtype nobody knows',
    { type: 'system', subtype: 'task_started' },
    { kind: 'other', type: 'system/task_started' },
  ],
  ['a known type without its core', { type: 'assistant', message: 7 }, { kind: 'other', type: 'assistant' }],
  ['a type named like a method', { type: 'constructor' }, { kind: 'other', type: 'constructor' }],
])('%s is read', (_, line, event) => {
  expect(read(line)).toStrictEqual(event);
});

test.each(['', 'null', '[]', '"result"', '{"type":7}', '{"type":"result"', 'Warning: beware', '\u0000'])(
  'the line %j is garbage, which is tolerated',
  (line) => {
    expect(parseClaudeLine(line)).toStrictEqual({ kind: 'garbage', text: line });
  },
);

test('any line can be read', () => {
  const types = fc.constantFrom('system', 'assistant', 'user', 'result', 'rate_limit_event', 'x');
  const line = fc.tuple(
    types,
    fc.constantFrom('init', 'api_retry', 'success'),
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(line, ([type, subtype, more, message]) => {
      const text = JSON.stringify({ ...more, type, subtype, message, rate_limit_info: message, modelUsage: message });
      expect(parseClaudeLine(text).kind).toBeTypeOf('string');
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(parseClaudeLine(text).kind).toBeTypeOf('string');
    }),
  );
});

test('a line of many megabytes is a line', () => {
  expect(read(assistantText('x'.repeat(8_000_000)))).toMatchObject({ kind: 'assistant', writtenChars: 8_000_000 });
});
