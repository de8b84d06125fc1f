import { expect, test } from 'vitest';
import { parseClaudeLine } from '../../../src/turns/claude/event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, isTurnDone, totalUsage } from '../../../src/turns/claude/transcript.ts';
import { after, assistant, assistantText, init, type Lines, result, synthetic, usage } from './lines.ts';

const NONE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 };

test('a turn has a session, model and version', () => {
  expect(after(init())).toMatchObject({
    sessionId: 'S',
    model: 'claude-opus-4-8[1m]',
    version: '2.1.197',
    opened: true,
  });
});

test('the last text is that of the last message with text, on the main thread', () => {
  const lines = [
    assistantText('first'),
    assistantText('one, ', 'msg_2'),
    assistantText('two', 'msg_2'),
    assistant('msg_3', { type: 'tool_use', input: {} }),
    assistantText('from below', 'msg_4', { parent_tool_use_id: 'toolu_1' }),
    synthetic('API Error', 'server_error'),
  ];
  expect(after(...lines).lastText).toStrictEqual({ messageId: 'msg_2', text: 'one, two' });
});

test('neither a sub-agent nor Claude Code itself answers the prompt', () => {
  const below = assistantText('x', 'm', { parent_tool_use_id: 't' });
  expect(after(init(), below, synthetic('No', 'unknown')).answered).toBe(false);
  expect(after(init(), assistant('m', { type: 'tool_use', input: {} })).answered).toBe(true);
});

test('an error after which the model continued is forgotten', () => {
  expect(after(synthetic('529', 'server_error')).error).toBe('server_error');
  expect(after(synthetic('529', 'server_error'), assistantText('now')).error).toBe(null);
});

test('the last result that answers our prompt is used, before or after others', () => {
  const other = result({ result: 'woken', origin: { kind: 'task-notification' } });
  const [first, second] = [result({ result: 'one' }), result({ result: 'two' })];
  expect(after(other).ownResult).toBe(null);
  expect(after(other, first, second, other)).toMatchObject({
    ownResult: { text: 'two' },
    lastResult: { text: 'woken' },
  });
  expect([after(other), after(other, first)].map(isTurnDone)).toStrictEqual([false, true]);
});

test('a result of a later round does not replace an answer, unless it says that it answers our prompt', () => {
  const [answer, woken] = [result({ result: '<goto>A</goto>' }), result({ result: 'The shell has ended.' })];
  const ownText = (...lines: Lines): string | null | undefined => after(init(), ...lines).ownResult?.text;
  expect(ownText(answer, init(), woken)).toBe('<goto>A</goto>');
  expect(ownText(result({ is_error: true, result: '529' }), init(), woken)).toBe('The shell has ended.');
  expect(ownText(answer, init(), { ...woken, origin: { kind: 'auto-continuation' } })).toBe('The shell has ended.');
  expect(ownText(answer, init(), { ...woken, origin: { kind: 'constructor' } })).toBe('<goto>A</goto>');
});

test('a limit applies only while requests are rejected', () => {
  const limit = (status: string) => ({ type: 'rate_limit_event', rate_limit_info: { status, resetsAt: 5 } });
  expect(after(limit('allowed_warning')).limit).toBe(null);
  expect(after(limit('rejected')).limit).toStrictEqual({ resetsAt: 5 });
  expect(after(limit('rejected'), limit('allowed')).limit).toBe(null);
});

test('each message is counted once, on every thread, and its output by its length', () => {
  const below = { parent_tool_use_id: 't' };
  const lines = [
    assistantText('x'.repeat(350), 'msg_1'),
    assistantText('y', 'sub_1', below),
    assistant('msg_1', { type: 'text', text: 'z'.repeat(350) }),
    assistantText('y', 'sub_1', below),
    assistant('msg_2', { type: 'text', text: '' }, {}, usage(2000, 70)),
    synthetic('no', 'unknown'),
  ];
  expect(totalUsage(after(...lines))).toStrictEqual({
    'claude-opus-4-8': { ...NONE, input: 1000 + 1000 + 2000, output: 200 + 1 + 70 },
  });
});

test('a very long turn needs little memory', () => {
  let so = EMPTY_TRANSCRIPT;
  for (let index = 0; index < 2000; index++) {
    const thread = { parent_tool_use_id: `toolu_${index}` };
    so = addClaudeEvent(
      so,
      parseClaudeLine(JSON.stringify(assistant(`m${index}`, { type: 'text', text: '' }, thread, usage(1, 1)))),
    );
  }
  expect(so.open.size).toBeLessThanOrEqual(64);
  expect(totalUsage(so)).toStrictEqual({ 'claude-opus-4-8': { ...NONE, input: 2000, output: 2000 } });
});

test('garbage is counted, the last of it kept, and otherwise ignored', () => {
  const so = addClaudeEvent(after(init()), parseClaudeLine('Segmentation fault'));
  expect(so).toStrictEqual({ ...after(init()), garbage: 1, strayLines: ['Segmentation fault'] });
});
