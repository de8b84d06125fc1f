import { expect, test } from 'vitest';
import { getAgent } from '../../src/core/run/run.ts';
import { charged, conversation, resumeToEnd, runToEnd, setUp, textReply, withEachClaude } from './rig.ts';

const POLICY = 'allowed_transitions: [{ tag: goto, target: DONE }, { tag: goto, target: FIX }]';
const statesWith = (evaluator: string, judge: string): Readonly<Record<string, string>> => ({
  'START.md': `---\n${POLICY}\nevaluator: ${evaluator}\n---\nI am START «usage 1000 10» «say I have done it. <goto>DONE</goto>»`,
  'JUDGE.md': `I am JUDGE of {{state}}, which wants {{transition}} and says: {{output}} «usage 2000 20» ${judge}`,
  'FIX.md': 'I am FIX «usage 3000 30» «say <result>fixed</result>»',
  'DONE.md': 'I am DONE «usage 4000 40» «say <result>done</result>»',
});
const JUDGED = 'I am JUDGE of START.md, which wants <goto>DONE</goto> and says: I have done it. <goto>DONE</goto>';

withEachClaude('a judge', (pinned) => {
  test('that confirms is asked in a conversation and with a model of its own, and leaves no trace in that of the agent', async (context) => {
    const rig = await setUp(context, pinned, {
      states: statesWith('{ prompt: JUDGE.md, model: haiku }', '«say Well done. <confirm></confirm>»'),
    });
    const run = await runToEnd(rig);
    expect(getAgent(run, 'main').phase).toStrictEqual({ kind: 'ended', result: 'done' });
    expect(conversation(rig, 'I am JUDGE')).toStrictEqual([`> ${JUDGED}`]);
    expect(conversation(rig, 'I am DONE')).toStrictEqual([
      '> I am START',
      '< I have done it. <goto>DONE</goto>',
      '> I am DONE',
    ]);
    const models = rig.eventsOf('turn_ended').map(({ evaluator, models: used }) => [evaluator, used[0]?.model]);
    expect(models[1]).toStrictEqual(['JUDGE.md', expect.stringContaining('haiku')]);
    expect(models[0]?.[1]).not.toContain('haiku');
    expect(rig.eventsOf('evaluated')).toMatchObject([{ evaluator: 'JUDGE.md', verdict: 'confirmed' }]);
    expect(run.ledger.spentMicros).toBe(charged(rig));
    expect(Object.keys(run.ledger.states)).toStrictEqual(['START.md', 'DONE.md']);
  });

  test('that overrides sends the agent elsewhere; one that forgets its tag is reminded in its own conversation', async (context) => {
    const rig = await setUp(context, pinned, {
      states: statesWith('{ prompt: JUDGE.md }', '«say Hm, there is no test.»'),
      script: ({ prompt }) =>
        prompt.startsWith('The next step cannot be found')
          ? textReply('There is no test.\n<goto>FIX</goto>')
          : undefined,
    });
    const run = await runToEnd(rig);
    expect(getAgent(run, 'main').phase).toStrictEqual({ kind: 'ended', result: 'fixed' });
    expect(rig.eventsOf('reminded')).toMatchObject([{ evaluator: 'JUDGE.md' }]);
    expect(conversation(rig, 'The next step').slice(0, 2)).toStrictEqual([`> ${JUDGED}`, '< Hm, there is no test.']);
    expect(conversation(rig, 'I am FIX')).toStrictEqual([
      '> I am START',
      '< I have done it. <goto>DONE</goto>',
      '> I am FIX',
    ]);
    expect(rig.eventsOf('transition')[0]).toMatchObject({
      to: 'FIX.md',
      requested: [{ tag: 'goto', target: 'DONE.md' }],
      choice: { by: 'evaluator', name: 'JUDGE.md', why: 'There is no test.' },
    });
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('continues after kill -9, and the agent goes where it says', async (context) => {
    const rig = await setUp(context, pinned, {
      states: statesWith('{ prompt: JUDGE.md }', '«delay 3000» «say Not tested. <goto>FIX</goto>»'),
    });
    await rig.startAndKill('I am JUDGE');
    const run = await resumeToEnd(rig);
    expect(getAgent(run, 'main')).toMatchObject({
      phase: { kind: 'ended', result: 'fixed' },
      visits: { 'START.md': 1, 'FIX.md': 1 },
      evaluations: { 'JUDGE.md': 1 },
    });
    // The turn outlived Raymond: nothing was asked twice, and every cent is counted.
    expect(rig.api.requests.filter(({ prompt }) => prompt.startsWith('I am JUDGE'))).toHaveLength(1);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });
});
