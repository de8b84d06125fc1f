import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processesMarked } from '../../src/process/marker.ts';
import { eventually, textOf } from '../process/turns.ts';
import { charged, conversation, playOn, type Rig, say, setUp, withEachClaude } from './rig.ts';

const sessions = (rig: Rig): readonly unknown[] => rig.all('turn_started').map(({ session }) => session?.id);

withEachClaude('a run that is stopped', (pinned) => {
  test('lets its turn finish, goes on in the same conversation, and counts every cent once', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «usage 1000 10 700» «delay 500» «say <call return="B">C</call>»',
        'C.md': 'I am C «usage 2000 20 0 300» «tool Write {"file_path":"c.txt","content":"x"}» «say <goto>C2</goto>»',
        'C2.md': 'I am C2 «usage 3000 30» «delay 500» «say <result>r</result>»',
        'B.md': 'I am B with {{result}} «usage 4000 40» «say <goto>D</goto>»',
        'D.md': 'I am D «usage 5000 50» «say <result>over</result>»',
      },
    });
    const first = await rig.start();
    await rig.api.seen(({ prompt }) => prompt.startsWith('I am START'));
    first.stop();
    const stopped = await first.finished;
    expect([stopped.status, stopped.stop]).toStrictEqual(['paused', { kind: 'stopped' }]);
    expect(stopped.ledger.spentMicros).toBe(charged(rig));

    const second = await rig.resume();
    await rig.api.seen(({ prompt }) => prompt.startsWith('I am C2'));
    second.stop('interrupted');
    const interrupted = await second.finished;
    expect([interrupted.status, interrupted.stop]).toStrictEqual(['interrupted', { kind: 'interrupted' }]);
    expect(rig.all('transition').map(({ to }) => to)).toStrictEqual(['C.md', 'C2.md', 'B.md']);
    expect(interrupted.ledger.spentMicros).toBe(charged(rig));

    const run = await playOn(rig);
    expect([run.status, run.agents[0]?.phase]).toStrictEqual(['completed', { kind: 'ended', result: 'over' }]);
    const [main, branch] = sessions(rig);
    expect(sessions(rig)).toStrictEqual([main, branch, branch, main, main]);
    const beginning = ['> I am START', '< <call return="B">C</call>'];
    expect(conversation(rig, 'I am C2')).toStrictEqual([
      ...[...beginning, '> I am C', '< [Write]', '> [tool_result]', '< <goto>C2</goto>', '> I am C2'],
    ]);
    expect(conversation(rig, 'I am D')).toStrictEqual([
      ...beginning,
      '> I am B with r',
      '< <goto>D</goto>',
      '> I am D',
    ]);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, turns: 5 });

    const asked = rig.api.requests.length;
    expect((await playOn(rig)).ledger).toStrictEqual(run.ledger);
    expect(rig.api.requests.length).toBe(asked);
  });

  test('leaves no process behind when it is killed, not even a stubborn one, and goes on where it was', async (context) => {
    const command = 'trap "" TERM INT HUP; mkfifo pipe; echo $$ > pid; cat pipe';
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': `---\nallowed_tools: [Bash]\n---\nI am START «usage 3000 30» «tool Bash ${JSON.stringify({ command })}»`,
      },
      script: ({ prompt }) => (prompt.startsWith('You were interrupted') ? say('<result>over</result>') : undefined),
    });
    const running = await rig.start();
    const marker = `${running.id}/`;
    await eventually('the tool', () => textOf(join(rig.cwd, 'pid')).endsWith('\n'));
    const stubborn = Number(textOf(join(rig.cwd, 'pid')));
    expect((await processesMarked(marker)).map(({ pid }) => pid)).toContain(stubborn);
    running.kill();
    const killed = await running.finished;
    expect(await processesMarked(marker)).toStrictEqual([]);
    expect([killed.status, killed.stop]).toStrictEqual(['paused', { kind: 'stopped' }]);
    expect(rig.all('turn_ended').map(({ failure, estimated }) => [failure, estimated])).toStrictEqual([
      ['stopped', true],
    ]);
    const before = charged(rig);
    expect(Math.abs(killed.ledger.spentMicros - before) / before).toBeLessThan(0.2);

    const run = await playOn(rig);
    expect([run.status, run.agents[0]?.phase]).toStrictEqual(['completed', { kind: 'ended', result: 'over' }]);
    const [session] = sessions(rig);
    expect(rig.all('turn_started').map((turn) => [turn.prompt, turn.session])).toStrictEqual([
      ['state', { kind: 'new', id: session }],
      ['continue', { kind: 'resume', id: session }],
    ]);
    expect(conversation(rig, 'You were interrupted')[0]).toBe('> I am START');
    expect(run.ledger.spentMicros - run.ledger.estimatedMicros).toBe(charged(rig) - before);
  });
});
