import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { textOf } from '../process/turns.ts';
import { charged, conversation, type Rig, resumeToEnd, setUp, textReply, withEachClaude } from './rig.ts';

const sessions = (rig: Rig): readonly unknown[] => rig.eventsOf('turn_started').map(({ session }) => session?.id);

withEachClaude('a run that is stopped', (pinned) => {
  test('lets its turn finish, continues in the same conversation, and counts all costs once', async (context) => {
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
    expect(rig.eventsOf('transition').map(({ to }) => to)).toStrictEqual(['C.md', 'C2.md', 'B.md']);
    expect(interrupted.ledger.spentMicros).toBe(charged(rig));

    const run = await resumeToEnd(rig);
    expect([run.status, run.agents[0]?.phase]).toStrictEqual(['completed', { kind: 'ended', result: 'over' }]);
    const [main, branch] = sessions(rig);
    expect(sessions(rig)).toStrictEqual([main, branch, branch, main, main]);
    const beginning = ['> I am START', '< <call return="B">C</call>'];
    expect(conversation(rig, 'I am C2')).toStrictEqual([
      ...beginning,
      '> I am C',
      '< [Write]',
      '> [tool_result]',
      '< <goto>C2</goto>',
      '> I am C2',
    ]);
    expect(conversation(rig, 'I am D')).toStrictEqual([
      ...beginning,
      '> I am B with r',
      '< <goto>D</goto>',
      '> I am D',
    ]);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, turns: 5 });

    const asked = rig.api.requests.length;
    expect((await resumeToEnd(rig)).ledger).toStrictEqual(run.ledger);
    expect(rig.api.requests.length).toBe(asked);
  });

  test('does not have to sleep until a usage limit ends', async (context) => {
    const rig: Rig = await setUp(context, pinned, {
      env: { CLAUDE_CODE_MAX_RETRIES: '0' },
      states: { 'START.md': 'I am START' },
      script() {
        const isFirst = rig.eventsOf('turn_ended').length === 0;
        return { ...textReply('<result>over</result>'), ...(isFirst && { fail: { kind: '429' } as const }) };
      },
    });
    const running = await rig.start();
    const { why, failure } = await rig.waitForEvent('sleeping');
    expect([why, failure]).toStrictEqual(['usage_limit', 'usage_limit']);
    running.stop();
    const stopped = await running.finished;
    expect([stopped.status, stopped.agents[0]?.phase.kind]).toStrictEqual(['paused', 'sleeping']);
    const run = await resumeToEnd(rig);
    expect([run.status, run.hold, run.agents[0]?.phase]).toStrictEqual([
      'completed',
      null,
      { kind: 'ended', result: 'over' },
    ]);
    expect(new Set(sessions(rig)).size).toBe(1);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('leaves no process behind when it is killed, not even one that ignores signals, and can be resumed', async (context) => {
    const command = 'trap "" TERM INT HUP; mkfifo pipe; echo $$ > pid; cat pipe';
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «usage 1000 10» «say <goto>TOOL</goto>»',
        'TOOL.md': `---\nallowed_tools: [Bash]\n---\nI am TOOL «usage 3000 30» «tool Bash ${JSON.stringify({ command })}»`,
      },
      script: ({ prompt }) =>
        prompt.startsWith('You were interrupted') ? textReply('<result>over</result>') : undefined,
    });
    const running = await rig.start();
    const marker = `${running.id}/`;
    const pid = () => textOf(join(rig.cwd, 'pid'));
    await vi.waitUntil(() => pid().endsWith('\n'), { timeout: 100_000, interval: 20 });
    const stubborn = Number(pid());
    expect((await findMarkedProcesses(marker)).map(({ pid }) => pid)).toContain(stubborn);
    running.kill();
    const killed = await running.finished;
    expect(await findMarkedProcesses(marker)).toStrictEqual([]);
    expect([killed.status, killed.stop]).toStrictEqual(['paused', { kind: 'stopped' }]);
    expect(rig.eventsOf('turn_ended').map(({ failure, estimated }) => [failure, estimated])).toStrictEqual([
      [null, false],
      ['stopped', true],
    ]);
    const cut = charged(rig, ({ prompt }) => prompt.startsWith('I am TOOL'));
    // It was killed before it could tell what it had cost; the price is known from the turn before.
    expect(Math.abs(killed.ledger.estimatedMicros - cut) / cut).toBeLessThan(0.2);

    const run = await resumeToEnd(rig);
    expect([run.status, run.agents[0]?.phase]).toStrictEqual(['completed', { kind: 'ended', result: 'over' }]);
    const [session] = sessions(rig);
    expect(rig.eventsOf('turn_started').map((turn) => [turn.prompt, turn.session])).toStrictEqual([
      ['state', { kind: 'new', id: session }],
      ['state', { kind: 'resume', id: session }],
      ['continue', { kind: 'resume', id: session }],
    ]);
    expect(conversation(rig, 'You were interrupted').slice(0, 3)).toStrictEqual([
      '> I am START',
      '< <goto>TOOL</goto>',
      '> I am TOOL',
    ]);
    expect(run.ledger.estimatedMicros).toBe(killed.ledger.estimatedMicros);
    expect(run.ledger.spentMicros - run.ledger.estimatedMicros).toBe(charged(rig) - cut);
  });
});
