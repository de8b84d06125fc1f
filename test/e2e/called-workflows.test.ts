import { expect, test } from 'vitest';
import { getAgent } from '../../src/core/run/run.ts';
import { charged, conversation, resumeToEnd, runToEnd, setUp, withEachClaude } from './rig.ts';

const POLICY = '---\nallowed_transitions:\n  - { tag: call-workflow, target: ../review, return: BACK.md }\n---\n';

const STATES = {
  'START.md': `${POLICY}I am START «usage 1000 10» «say Ready for the review.»`,
  'BACK.md': 'I am BACK with {{result}} «usage 2000 20» «say <result>done with {{result}}</result>»',
  '../review/START.md': 'I am REVIEW in {{state}} «usage 3000 30» «delay 3000» «say <goto>BACK</goto>»',
  '../review/BACK.md': 'I am the other BACK «usage 4000 40» «say <result>fine</result>»',
};

withEachClaude('a call into another workflow', (pinned) => {
  test('branches the conversation, and its result comes back into the right one', async (context) => {
    const rig = await setUp(context, pinned, { states: STATES });
    const run = await runToEnd(rig);
    expect(getAgent(run, 'main').phase).toStrictEqual({ kind: 'ended', result: 'done with fine' });
    const called = ['> I am START', '< Ready for the review.', '> I am REVIEW in review/START.md'];
    expect(conversation(rig, 'I am REVIEW')).toStrictEqual(called);
    expect(conversation(rig, 'I am the other')).toStrictEqual([
      ...called,
      '< <goto>BACK</goto>',
      '> I am the other BACK',
    ]);
    expect(conversation(rig, 'I am BACK')).toStrictEqual([...called.slice(0, 2), '> I am BACK with fine']);
  });

  test('continues after kill -9 in the called workflow, and returns into the right one', async (context) => {
    const rig = await setUp(context, pinned, { states: STATES });
    await rig.startAndKill('I am REVIEW');
    const run = await resumeToEnd(rig);
    expect(getAgent(run, 'main').phase).toStrictEqual({ kind: 'ended', result: 'done with fine' });
    expect(Object.keys(run.ledger.states)).toStrictEqual(['START.md', 'review/START.md', 'review/BACK.md', 'BACK.md']);
    expect(getAgent(run, 'main').visits).toStrictEqual({
      'START.md': 1,
      'review/START.md': 1,
      'review/BACK.md': 1,
      'BACK.md': 1,
    });
    // The turn outlived Raymond: nothing was asked twice, and every cent is counted.
    expect(rig.api.requests.filter(({ prompt }) => prompt.startsWith('I am REVIEW'))).toHaveLength(1);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });
});
