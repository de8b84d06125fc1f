import { INIT, play, RESULT, says, state } from './play.ts';
import { describe, expect, failures, read, resultOf, test, told } from './rig.ts';

const MIB = 1024 * 1024;

/** A tool call whose input is a list in a list in a list, deeper than any stack. */
const DEEP = `{"type":"assistant","message":{"id":"m","model":"opus","content":[{"type":"tool_use","input":${'['.repeat(200_000)}${']'.repeat(200_000)}}]}}\n`;

describe.concurrent('output that counts', () => {
  test('a line of 20 MiB', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([INIT, { huge: 20 * MIB }, ...says(RESULT)]) });
    expect(resultOf(played)).toBe('done');
    expect(failures(played)).toStrictEqual([null]);
  });

  test('an answer of 20 MiB', async ({ rig }) => {
    const filler = 'x'.repeat(1024);
    const long: readonly object[] = [INIT, { long: { before: '<result>', filler, times: 20 * 1024, after: '</result>' } }];
    const played = await rig.play({ 'START.md': play(long as never) });
    expect(resultOf(played).length).toBe(20 * MIB);
  });

  test.each([
    ['words', 'npm warn deprecated\n(node:1) Warning: something\n\n\n'],
    ['halves of events', '{"type":"assistant","mess\n"}\n{"type":\n'],
    ['JSON that is no event', 'null\n[]\n42\n"text"\n{}\n{"type":5}\n{"type":"__proto__"}\n{"type":"constructor"}\n'],
    ['events without their core', '{"type":"assistant"}\n{"type":"user"}\n{"type":"rate_limit_event"}\n{"type":"system"}\n'],
    ['fields of the wrong kind', '{"type":"assistant","message":{"id":7,"content":"no list","usage":[]},"error":{}}\n'],
    ['brackets without end', `${'['.repeat(200_000)}\n`],
    ['a tool call deeper than a stack', DEEP],
  ])('garbage between the lines: %s', async (_, raw, { rig } = undefined as never) => {
    const played = await rig.play({ 'START.md': play([{ raw }, INIT, { raw }, ...says(RESULT), { raw }]) });
    expect(resultOf(played)).toBe('done');
  });
});
