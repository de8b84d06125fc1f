import { expect, test } from 'vitest';
import type { ApiRequest } from '../messages-api/request.ts';
import { conversation, runToEnd, setUp, textReply, withEachClaude } from './rig.ts';

const isSummary = ({ prompt }: ApiRequest): boolean => /summary/i.test(prompt);

withEachClaude('<compact>', (pinned) => {
  test('summarizes the conversation in a turn of its own, also where a script says it', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «usage 2000 20» «say I have read a lot. <goto>MORE</goto>»',
        'MORE.md': 'I am MORE «usage 2500 20» «say And more. <goto>TEST</goto>»',
        'TEST.sh': `echo '<compact input="x">LOG</compact>'`,
        'LOG.sh': `echo "<goto input='$RAYMOND_RESULT'>END</goto>"`,
        'END.md': 'I am END with {{result}} «usage 500 5» «say <result>over</result>»',
      },
      script: (request) => (isSummary(request) ? textReply('<summary>All was read.</summary>') : undefined),
    });
    const run = await runToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.eventsOf('turn_started').map(({ state, prompt }) => `${state} ${prompt}`)).toStrictEqual([
      'START.md state',
      'MORE.md state',
      'TEST.sh state',
      'LOG.sh state',
      'END.md compact',
      'END.md state',
    ]);
    expect(rig.eventsOf('warning')).toStrictEqual([]);
    const sessions = new Set(rig.eventsOf('turn_started').flatMap(({ session }) => session?.id ?? []));
    expect(sessions.size).toBe(1);
    const [, , compaction] = rig.eventsOf('turn_ended').filter(({ session }) => session !== null);
    expect(compaction).toMatchObject({ state: 'END.md', failure: null, estimated: false });
    expect(compaction?.costMicros).toBeGreaterThan(0);
    expect(run.ledger.turns).toBe(4);
    const last = conversation(rig, 'I am END').join('\n');
    expect(last).toContain('All was read.');
    expect(last).not.toContain('I have read a lot.');
  });

  test('continues with a warning where nothing can be summarized', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.sh': `echo '<compact>TALK</compact>'`,
        'TALK.md': 'I am TALK «say <compact>END</compact>»',
        'END.md': 'I am END «say <result>over</result>»',
      },
      script: (request) => (isSummary(request) ? textReply('') : undefined),
    });
    const run = await runToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.eventsOf('warning').map(({ message }) => message)).toStrictEqual([
      'START.sh: there is no conversation yet that <compact> could summarize',
      expect.stringMatching(/^END\.md: the conversation could not be summarized \(.+\); it continues as it is$/),
    ]);
  });
});
