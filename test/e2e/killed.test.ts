import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getAgent } from '../../src/core/run/run.ts';
import { charged, conversation, resumeToEnd, setUp, textReply, withEachClaude } from './rig.ts';

const SUMMARY = /summary/i;

/** One file that calls a folder with a judge, joins workers, sums its conversation up and ends by a guard. */
const FLOW = `
states:
  START:
    prompt: |
      I am START «tool Write {"file_path":"{{task_folder}}/note.txt","content":"kept"}»
      «delay 1500» «say <call-workflow return="BACK">checker</call-workflow>»
  BACK:
    prompt: |
      I am BACK with {{result}} «tool Read {"file_path":"{{task_folder}}/note.txt"}»
      «say <fork item="a">W</fork><fork item="b">QUICK</fork><join>SUM</join>»
  W:
    prompt: I am W «delay 2500» «say <result>{{item}}</result>»
  QUICK:
    sh: echo "<result>$item</result>"
  SUM:
    sh: |
      cat "$RAYMOND_RESULTS_FILE" > "$RAYMOND_TASK_FOLDER/results.json"
      echo '<compact>END</compact>'
  END:
    retry: 0
    on: { error: LAST }
    prompt: I am END «fail 500»
  LAST:
    sh: |
      echo "<result>$(cat "$RAYMOND_TASK_FOLDER/note.txt"): $RAYMOND_ERROR</result>"
`;

withEachClaude('a run that is killed with -9 again and again', (pinned) => {
  test('loses nothing: in one file, in a judge of a called workflow, in a join, in a summary', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        '../flow.yaml': FLOW,
        '../checker/START.md': `---
allowed_transitions: [{ tag: goto, target: DONE }, { tag: goto, target: FIX }]
evaluator: { prompt: JUDGE.md }
---
I am CHECKER in {{task_folder}} «say <goto>DONE</goto>»`,
        '../checker/JUDGE.md': 'I am JUDGE of {{state}} «delay 1500» «say Not yet. <goto>FIX</goto>»',
        '../checker/DONE.sh': 'echo "<result>done</result>"',
        '../checker/FIX.sh': 'cp "$RAYMOND_TASK_FOLDER/note.txt" copy.txt; echo "<result>fixed</result>"',
      },
      workflow: '../flow.yaml',
      env: { CLAUDE_CODE_MAX_RETRIES: '0' },
      script: ({ prompt }) =>
        SUMMARY.test(prompt) ? { ...textReply('<summary>All was read.</summary>'), delayMs: 1500 } : undefined,
    });
    await rig.startAndKill('I am START');
    await rig.resumeAndKill('I am JUDGE');
    await rig.resumeAndKill('I am W');
    await rig.resumeAndKill(SUMMARY);
    const run = await resumeToEnd(rig);
    expect([run.status, getAgent(run, 'main').phase]).toMatchObject([
      'completed',
      { kind: 'ended', result: expect.stringMatching(/^kept: END\.md: .*500/) },
    ]);
    expect(getAgent(run, 'main').visits).toStrictEqual({
      'START.md': 1,
      'checker/START.md': 1,
      'checker/FIX.sh': 1,
      'BACK.md': 1,
      'SUM.sh': 1,
      'END.md': 1,
      'LAST.sh': 1,
    });
    const tasks = join(rig.cwd, '.raymond', 'tasks', run.id);
    expect(readFileSync(join(rig.cwd, 'copy.txt'), 'utf8')).toBe('kept');
    expect(JSON.parse(readFileSync(join(tasks, 'main', 'results.json'), 'utf8'))).toMatchObject([
      { agent: 'main_w1', status: 'ended', result: 'a' },
      { agent: 'main_quick2', status: 'ended', result: 'b' },
    ]);
    expect(readdirSync(tasks)).toContain('main_w1');
    // Every turn outlived Raymond: nothing was asked twice, and every cent is counted.
    for (const prompt of ['I am START', 'I am CHECKER', 'I am JUDGE', 'I am BACK', 'I am W', 'I am END'])
      expect([
        prompt,
        rig.api.requests.filter((each) => each.prompt.startsWith(prompt) && each.step === 0).length,
      ]).toStrictEqual([prompt, 1]);
    expect(rig.api.requests.filter(({ prompt }) => SUMMARY.test(prompt))).toHaveLength(1);
    expect(conversation(rig, 'I am END').join('\n')).toContain('All was read.');
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });
});
