import { expect, test } from 'vitest';
import { answerQuestion } from '../../src/runtime/questions.ts';
import { conversation, resumeToEnd, runToEnd, setUp, withEachClaude } from './rig.ts';

withEachClaude('a question', (pinned) => {
  test('survives kills before and after its answer, which comes while Raymond is down; of two answers one counts', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «delay 1000» «say <ask next="NEXT">Which color?</ask>»',
        'NEXT.md': 'I am NEXT and the color is {{input}} «delay 1000» «say <result>painted</result>»',
      },
    });
    await rig.startAndKill('I am START');
    expect((await resumeToEnd(rig)).status).toBe('waiting');
    expect(rig.eventsOf('asked')).toMatchObject([{ ask: 'main-1', question: { text: 'Which color?' } }]);
    const answer = (text: string) =>
      answerQuestion('last', { cwd: rig.cwd, env: { USER: text }, ask: null, text, uploads: [] });
    const both = await Promise.allSettled([answer('red'), answer('blue')]);
    const winner = both[0].status === 'fulfilled' ? 'red' : 'blue';
    expect(both.flatMap((each) => (each.status === 'rejected' ? String(each.reason) : []))).toStrictEqual([
      expect.stringMatching(/the question main-1 of .* is over: .*@.* answered it first, at /),
    ]);
    await rig.resumeAndKill('I am NEXT');
    expect(await resumeToEnd(rig)).toMatchObject({ status: 'completed' });
    expect(conversation(rig, 'I am NEXT')).toStrictEqual([
      '> I am START',
      '< <ask next="NEXT">Which color?</ask>',
      `> I am NEXT and the color is ${winner}`,
    ]);
    await expect(answer('green')).rejects.toThrow(/asks nothing/);
  });

  test('whose time is over while Raymond is down goes on elsewhere as soon as it is resumed', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say <ask next="NEXT" timeout="0.05s" timeout_next="LATE">Which color?</ask>»',
        'NEXT.md': 'I am NEXT «say <result>painted</result>»',
        'LATE.md': 'I am LATE «say <result>left as it is</result>»',
      },
    });
    expect((await runToEnd(rig)).status).toBe('waiting');
    await new Promise((done) => setTimeout(done, 60));
    const late = { cwd: rig.cwd, env: {}, ask: 'main-1', text: 'red', uploads: [] };
    await expect(answerQuestion('last', late)).rejects.toThrow(/its time was over at .*; the run goes on in LATE.md/);
    expect((await resumeToEnd(rig)).agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'left as it is' });
    expect(conversation(rig, 'I am LATE')[1]).toContain('<ask');
  });
});
