import { INIT, play, RESULT, says, state } from './play.ts';
import { describe, expect, expectStuck, failures, read, resultOf, test, told } from './rig.ts';

const MIB = 1024 * 1024;
const ONCE = { retries: 0 };

const event = (fields: object): string => `${JSON.stringify(fields)}\n`;
const resultLine = (result: string): string => event({ type: 'result', subtype: 'success', is_error: false, result });

const GARBAGE = [
  'npm warn deprecated\n(node:1) Warning: something\n\n\r\n',
  '{"type":"assistant","mess\n"}\n{"type":\n',
  'null\n[]\n42\n"text"\n{}\n{"type":5}\n{"type":"__proto__"}\n{"type":"constructor"}\n',
  '{"type":"assistant"}\n{"type":"user"}\n{"type":"rate_limit_event"}\n{"type":"system"}\n',
  '{"type":"assistant","message":{"id":7,"content":"no list","usage":[]},"error":{}}\n',
  `${'['.repeat(200_000)}\n`,
];

describe.concurrent('an answer is found', () => {
  test('behind a line of 20 MiB', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([INIT, { huge: 20 * MIB }, ...says(RESULT)]) });
    expect(resultOf(played)).toBe('done');
  });

  test('when it is as long as a book itself', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([INIT, { vast: 4 * MIB }]) });
    expect(resultOf(played).length).toBe(4 * MIB);
  });

  test('among garbage of every kind', async ({ rig }) => {
    const raw = GARBAGE.join('');
    const played = await rig.play({ 'START.md': play([{ raw }, INIT, { raw }, ...says(RESULT), { raw }]) });
    expect(resultOf(played)).toBe('done');
    expect(failures(played)).toStrictEqual([null]);
  });

  test('among events that nobody knows', async ({ rig }) => {
    const mood = { line: { type: 'system', subtype: 'mood', is_error: true, result: 'low' } };
    const unknown = { line: { type: 'telepathy', strength: 9 } };
    const played = await rig.play({ 'START.md': play([mood, unknown, ...says(RESULT), unknown, mood]) });
    expect(resultOf(played)).toBe('done');
  });

  test('after a tool call that is nested deeper than any stack', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([INIT, { nested: 200_000 }, ...says(RESULT)]) });
    expect(resultOf(played)).toBe('done');
  });

  test('among bytes that are no text', async ({ rig }) => {
    const bytes = Buffer.from([0, 0xff, 0xfe, 0xc3, 0x28, 0x0a, 0x1b, 0x5b, 0x32, 0x4a, 0x0a, 0xed, 0xa0, 0x80, 0x0a]);
    const noise = { bytes: bytes.toString('base64') };
    const played = await rig.play({ 'START.md': play([noise, INIT, noise, ...says(RESULT), noise]) });
    expect(resultOf(played)).toBe('done');
  });

  test('when every byte of it comes alone, and no character is broken', async ({ rig }) => {
    const text = '<result>é 🜚 漢字 \u200b \\u00e9 "quoted"</result>';
    const played = await rig.play({ 'START.md': play([INIT, { drip: { text: resultLine(text), everyMs: 0 } }]) });
    expect(resultOf(played)).toBe('é 🜚 漢字 \u200b \\u00e9 "quoted"');
  });

  test('when its line has no end, but is whole', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([INIT, { raw: resultLine(RESULT).trimEnd() }]) });
    expect(resultOf(played)).toBe('done');
  });

  test('before a last line that was cut off', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([...says(RESULT), { raw: '{"type":"result","is_err' }]) });
    expect(resultOf(played)).toBe('done');
  });

  test.for([
    ['missing from the result', { without: ['result'] }],
    ['empty in the result', { result: '' }],
    ['null in the result', { result: null }],
  ] as const)('in the message, when it is %s', async ([, result], { rig }) => {
    const played = await rig.play({ 'START.md': play([INIT, { assistant: { text: RESULT } }, { result }]) });
    expect(resultOf(played)).toBe('done');
  });

  test('in the last of several results', async ({ rig }) => {
    const several = [...says('<result>too early</result>'), ...says(RESULT)];
    expect(resultOf(await rig.play({ 'START.md': play(several) }))).toBe('done');
  });

  test('in the result that answers our prompt, not in one that answers a background task', async ({ rig }) => {
    const foreign = { result: '<result>the shell has ended</result>', origin: { kind: 'task-notification' } };
    const played = await rig.play({ 'START.md': play([...says(RESULT), { result: foreign }]) });
    expect(resultOf(played)).toBe('done');
  });

  test('though stderr is full of noise that looks like failures', async ({ rig }) => {
    const stderr = 'Error: No conversation found\nport 3000 already in use\nerror: unknown option --x\n'.repeat(5_000);
    const played = await rig.play({ 'START.md': play([{ stderr }, ...says(RESULT), { stderr }]) });
    expect(resultOf(played)).toBe('done');
    expect(read(played)).not.toContain('already in use');
  });

  test('though it speaks of failures itself', async ({ rig }) => {
    const text = '<result>Claude AI usage limit reached|1794789626; prompt is too long</result>';
    expect(resultOf(await rig.play({ 'START.md': play(text) }))).toContain('usage limit reached');
  });

  test('though Claude Code exits with 1 after it', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([...says(RESULT), { exit: 1 }]) });
    expect(resultOf(played)).toBe('done');
    expect(failures(played)).toStrictEqual([null]);
  });
});

describe.concurrent('nothing counts', () => {
  test('when Claude Code exits with 0 and has said nothing at all', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([]) }, ONCE);
    expectStuck(
      played,
      'failed',
      /failed: START\.md: Claude Code could not finish the turn: .*exit code 0.* without a result/,
    );
    expect(failures(played)).toStrictEqual(['transient']);
  });

  test('when it exits with 0 after an answer without a result', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([INIT, { assistant: { text: RESULT } }]) }, ONCE);
    expectStuck(played, 'failed', /without a result/);
  });

  test('when it exits with 0 and its result is an error', async ({ rig }) => {
    const error = { is_error: true, result: 'API Error: 500 Internal server error' };
    const played = await rig.play({ 'START.md': play([INIT, { result: error }]) }, ONCE);
    expectStuck(played, 'failed', /could not finish the turn: API Error: 500 Internal server error\. \(tried 1 time\)/);
    expect(failures(played)).toStrictEqual(['transient']);
  });

  test('when the result does not say whether it is an error', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([INIT, { result: { without: ['is_error'] } }]) }, ONCE);
    expectStuck(played, 'failed');
  });

  test('when the line of the result is cut off', async ({ rig }) => {
    const cut = resultLine(RESULT).slice(0, -20);
    const played = await rig.play({ 'START.md': play([INIT, { assistant: { text: RESULT } }, { raw: cut }]) }, ONCE);
    expectStuck(played, 'failed', /without a result/);
  });

  test('when only a sub-agent has spoken', async ({ rig }) => {
    const below = { assistant: { text: RESULT, parent_tool_use_id: 'tool_1' } };
    const played = await rig.play({ 'START.md': play([INIT, below, { result: { result: '' } }]) }, ONCE);
    expectStuck(played, 'failed', /empty answer/);
  });

  test('not even where only one transition is permitted', async ({ rig }) => {
    const only = 'allowed_transitions:\n  - { tag: goto, target: NEXT.md }';
    const played = await rig.play({ 'START.md': state(only, play([])), 'NEXT.md': play(RESULT) }, ONCE);
    expectStuck(played, 'failed', /without a result/);
    expect(played.calls.length).toBe(1);
  });
});

test('a turn that said nothing is tried again, and the user is told so', async ({ rig }) => {
  const played = await rig.play({ 'START.md': play([{ stderr: 'out of cheese\n' }], RESULT) });
  expect(resultOf(played)).toBe('done');
  expect(failures(played)).toStrictEqual(['transient', null]);
  expect(told(played, 'sleeping')).toMatchObject([{ why: 'retry', failure: 'transient', count: 1 }]);
  expect(read(played)).toMatch(/its last words were: out of cheese; tried again in \d s/);
});
