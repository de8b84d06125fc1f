import { answersWith, fakePrompt, INIT, RESULT, state } from './fake-prompt.ts';
import { describe, eventsOf, expect, expectStuck, failures, logOf, resultOf, test } from './rig.ts';

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
  test('behind a line of 20 MiB, and behind one that is too long to be read', async ({ rig }) => {
    const huge = [{ huge: 20 * MIB }, { huge: 65 * MIB }];
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, ...huge, ...answersWith(RESULT)]) });
    expect(resultOf(finished)).toBe('done');
    const warnings = finished.events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    expect(warnings).toStrictEqual([
      'Claude Code printed an event of 64 MiB or more, which was not read: what it said in it is lost',
    ]);
  });

  test('when it is as long as a book', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, { vast: 4 * MIB }]) });
    expect(resultOf(finished).length).toBe(4 * MIB);
  });

  test('among garbage of every kind', async ({ rig }) => {
    const raw = GARBAGE.join('');
    const finished = await rig.run({
      'START.md': fakePrompt([{ raw }, INIT, { raw }, ...answersWith(RESULT), { raw }]),
    });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual([null]);
  });

  test('among unknown events', async ({ rig }) => {
    const mood = { line: { type: 'system', subtype: 'mood', is_error: true, result: 'low' } };
    const unknown = { line: { type: 'telepathy', strength: 9 } };
    const finished = await rig.run({ 'START.md': fakePrompt([mood, unknown, ...answersWith(RESULT), unknown, mood]) });
    expect(resultOf(finished)).toBe('done');
  });

  test('after a tool call that is nested deeper than any stack', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, { nested: 200_000 }, ...answersWith(RESULT)]) });
    expect(resultOf(finished)).toBe('done');
  });

  test('among bytes that are not UTF-8', async ({ rig }) => {
    const bytes = Buffer.from([0, 0xff, 0xfe, 0xc3, 0x28, 0x0a, 0x1b, 0x5b, 0x32, 0x4a, 0x0a, 0xed, 0xa0, 0x80, 0x0a]);
    const noise = { bytes: bytes.toString('base64') };
    const finished = await rig.run({ 'START.md': fakePrompt([noise, INIT, noise, ...answersWith(RESULT), noise]) });
    expect(resultOf(finished)).toBe('done');
  });

  test('when its bytes arrive one by one, and no character is broken', async ({ rig }) => {
    const text = '<result>é 🜚 漢字 \u200b \\u00e9 "quoted"</result>';
    const finished = await rig.run({
      'START.md': fakePrompt([INIT, { drip: { text: resultLine(text), everyMs: 0 } }]),
    });
    expect(resultOf(finished)).toBe('é 🜚 漢字 \u200b \\u00e9 "quoted"');
  });

  test('when its line has no newline but is complete', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, { raw: resultLine(RESULT).trimEnd() }]) });
    expect(resultOf(finished)).toBe('done');
  });

  test('before a last line that was cut off', async ({ rig }) => {
    const finished = await rig.run({
      'START.md': fakePrompt([...answersWith(RESULT), { raw: '{"type":"result","is_err' }]),
    });
    expect(resultOf(finished)).toBe('done');
  });

  test.for([
    ['missing from the result', { without: ['result'] }],
    ['empty in the result', { result: '' }],
    ['null in the result', { result: null }],
  ] as const)('in the message, when it is %s', async ([, result], { rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, { assistant: { text: RESULT } }, { result }]) });
    expect(resultOf(finished)).toBe('done');
  });

  test('in the last of several results', async ({ rig }) => {
    const [, ...lastAnswer] = answersWith(RESULT);
    const several = [...answersWith('<result>too early</result>'), ...lastAnswer];
    // A process that stays open is taken at its first result.
    expect(resultOf(await rig.run({ 'START.md': fakePrompt(several) }, { keepOpenMs: 0 }))).toBe('done');
  });

  test('before what Claude Code says by itself afterwards, without saying why', async ({ rig }) => {
    const several = [...answersWith(RESULT), ...answersWith('The shell has ended. <goto>NOWHERE</goto>')];
    expect(resultOf(await rig.run({ 'START.md': fakePrompt(several) }))).toBe('done');
  });

  test('in the result that answers our prompt, not in one that answers a background task', async ({ rig }) => {
    const foreign = { result: '<result>the shell has ended</result>', origin: { kind: 'task-notification' } };
    const finished = await rig.run({ 'START.md': fakePrompt([...answersWith(RESULT), { result: foreign }]) });
    expect(resultOf(finished)).toBe('done');
  });

  test('when stderr is full of text that looks like failures', async ({ rig }) => {
    const stderr = 'Error: No conversation found\nport 3000 already in use\nerror: unknown option --x\n'.repeat(5_000);
    const finished = await rig.run({ 'START.md': fakePrompt([{ stderr }, ...answersWith(RESULT), { stderr }]) });
    expect(resultOf(finished)).toBe('done');
    expect(logOf(finished)).not.toContain('already in use');
  });

  test('when it mentions failures itself', async ({ rig }) => {
    const text = '<result>Claude AI usage limit reached|1794789626; prompt is too long</result>';
    expect(resultOf(await rig.run({ 'START.md': fakePrompt(text) }))).toContain('usage limit reached');
  });

  test('when Claude Code exits with 1 after it', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([...answersWith(RESULT), { exit: 1 }]) });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual([null]);
  });
});

describe.concurrent('an answer is not accepted', () => {
  test('when Claude Code exits with 0 without any output', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([]) }, ONCE);
    expectStuck(
      finished,
      'failed',
      /failed: START\.md: Claude Code could not finish the turn: .*exit code 0.* without a result/,
    );
    expect(failures(finished)).toStrictEqual(['transient']);
  });

  test('when it exits with 0 after an answer without a result', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, { assistant: { text: RESULT } }]) }, ONCE);
    expectStuck(finished, 'failed', /without a result/);
  });

  test('when it exits with 0 and its result is an error', async ({ rig }) => {
    const error = { is_error: true, result: 'API Error: 500 Internal server error' };
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, { result: error }]) }, ONCE);
    expectStuck(
      finished,
      'failed',
      /could not finish the turn: API Error: 500 Internal server error\. \(tried 1 time\)/,
    );
    expect(failures(finished)).toStrictEqual(['transient']);
  });

  test('when the result does not say whether it is an error', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, { result: { without: ['is_error'] } }]) }, ONCE);
    expectStuck(finished, 'failed');
  });

  test('when the line of the result is cut off', async ({ rig }) => {
    const cut = resultLine(RESULT).slice(0, -20);
    const finished = await rig.run(
      { 'START.md': fakePrompt([INIT, { assistant: { text: RESULT } }, { raw: cut }]) },
      ONCE,
    );
    expectStuck(finished, 'failed', /without a result/);
  });

  test('when it is the message of a limit, although it calls itself a success', async ({ rig }) => {
    const text = "You've hit your limit · resets 1pm (Asia/Tokyo)";
    const refusal = [INIT, { synthetic: { text, error: 'rate_limit' } }, { result: { result: text } }];
    const finished = await rig.run({ 'START.md': fakePrompt(refusal) }, { wait: false });
    expect(failures(finished)).toStrictEqual(['usage_limit']);
  });

  test('when its line is too long to be read', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, { huge: 65 * MIB }]) }, ONCE);
    expectStuck(finished, 'failed', /without a result; it printed what is no event: a line of 64 MiB or more/);
  });

  test('when only a sub-agent has answered', async ({ rig }) => {
    const below = { assistant: { text: RESULT, parent_tool_use_id: 'tool_1' } };
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, below, { result: { result: '' } }]) }, ONCE);
    expectStuck(finished, 'failed', /empty answer/);
  });

  test('not even if only one transition is permitted', async ({ rig }) => {
    const only = 'allowed_transitions:\n  - { tag: goto, target: NEXT.md }';
    const finished = await rig.run({ 'START.md': state(only, fakePrompt([])), 'NEXT.md': fakePrompt(RESULT) }, ONCE);
    expectStuck(finished, 'failed', /without a result/);
    expect(finished.calls.length).toBe(1);
  });
});

test('a turn without output is retried, with a message for the user', async ({ rig }) => {
  const finished = await rig.run({ 'START.md': fakePrompt([{ stderr: 'out of cheese\n' }], RESULT) });
  expect(resultOf(finished)).toBe('done');
  expect(failures(finished)).toStrictEqual(['transient', null]);
  expect(eventsOf(finished, 'sleeping')).toMatchObject([{ why: 'retry', failure: 'transient', count: 1 }]);
  expect(logOf(finished)).toMatch(/its last words were: out of cheese; tried again in \d s/);
});
