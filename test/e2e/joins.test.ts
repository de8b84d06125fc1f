import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { WorkerResult } from '../../src/core/joins/join-results.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { charged, conversation, runToEnd, setUp, withEachClaude } from './rig.ts';

withEachClaude('a join', (pinned) => {
  test('continues the conversation with the results, and Claude Code may read their file', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md':
          'I am START «say <fork item="a">W</fork><fork item="b">W</fork><join>MERGE</join>» «usage 1000 10 700»',
        'W.md': 'I am W for {{item}} «say <result>did {{item}}</result>»',
        'MERGE.md': `I am MERGE

{{results}}

«tool Read {"file_path":"{{results_file}}"}» «say <result>merged</result>»`,
      },
    });
    const run = await runToEnd(rig);
    expect([run.status, run.agents.map(({ phase }) => phase)]).toStrictEqual([
      'completed',
      ['merged', 'did a', 'did b'].map((result) => ({ kind: 'ended', result })),
    ]);
    const told = conversation(rig, 'I am MERGE');
    expect(told.slice(0, 2)).toStrictEqual([
      '> I am START',
      '< <fork item="a">W</fork><fork item="b">W</fork><join>MERGE</join>',
    ]);
    expect(told.at(2)).toContain('- main_w1 item=a: ended\n  did a\n- main_w2 item=b: ended\n  did b');
    // A tool that was not permitted would be denied.
    expect(rig.eventsOf('turn_ended').flatMap(({ denials }) => denials)).toStrictEqual([]);
    const file = /"([^"]*results\/main-\d+\.json)"/.exec(JSON.stringify(rig.api.requests.at(-1)?.messages))?.[1] ?? '';
    const results: readonly WorkerResult[] = JSON.parse(readFileSync(file, 'utf8'));
    expect(results.map(({ agent, result }) => [agent, result])).toStrictEqual([
      ['main_w1', 'did a'],
      ['main_w2', 'did b'],
    ]);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('with `cancel` ends a Claude Code that is not needed any more, and its turn is on record', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.sh': `echo '<fork>QUICK</fork><fork>SLOW</fork><join wait="any" cancel="true">MERGE</join>'`,
        'QUICK.sh': 'until [ -e gate ]; do sleep 0.05; done; echo "<result>first</result>"',
        'SLOW.md': 'I am SLOW «delay 100000» «say <result>too late</result>»',
        'MERGE.sh': 'cp "$RAYMOND_RESULTS_FILE" results.json; echo "<result>merged</result>"',
      },
    });
    const running = await rig.start();
    await rig.api.seen(({ prompt }) => prompt.startsWith('I am SLOW'));
    writeFileSync(`${rig.cwd}/gate`, '');
    const run = await running.finished;
    expect(run.status).toBe('completed');
    const results: readonly WorkerResult[] = JSON.parse(readFileSync(`${rig.cwd}/results.json`, 'utf8'));
    expect(results.map(({ status }) => status)).toStrictEqual(['ended', 'cancelled']);
    expect(rig.eventsOf('turn_ended').find(({ agent }) => agent === 'main_slow2')?.failure).toBe('stopped');
    expect(await findMarkedProcesses(`${run.id}/`)).toStrictEqual([]);
  });
});
