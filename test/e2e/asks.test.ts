import { expect, test } from 'vitest';
import { answer } from '../../src/app/answer.ts';
import { storageIn } from '../storage/files/open-files.ts';
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
    const answerWith = (text: string) =>
      answer('last', { storage: storageIn(rig.cwd), env: { USER: text }, ask: null, text, files: [] });
    const both = await Promise.allSettled([answerWith('red'), answerWith('blue')]);
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
    await expect(answerWith('green')).rejects.toThrow(/asks nothing/);
  });

  test('whose time is over while Raymond is down continues elsewhere as soon as it is resumed', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say <ask next="NEXT" timeout="0.05s" timeout_next="LATE">Which color?</ask>»',
        'NEXT.md': 'I am NEXT «say <result>painted</result>»',
        'LATE.md': 'I am LATE «say <result>left as it is</result>»',
      },
    });
    expect((await runToEnd(rig)).status).toBe('waiting');
    await new Promise((done) => setTimeout(done, 60));
    const late = { storage: storageIn(rig.cwd), env: {}, ask: 'main-1', text: 'red', files: [] };
    await expect(answer('last', late)).rejects.toThrow(/its time was over at .*; the run continues in LATE.md/);
    expect((await resumeToEnd(rig)).agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'left as it is' });
    expect(conversation(rig, 'I am LATE')[1]).toContain('<ask');
  });
});
