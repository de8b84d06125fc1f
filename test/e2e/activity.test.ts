import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeLogs } from '../../src/app/logs.ts';
import type { Activity } from '../../src/core/run/activity.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { runToEnd, setUp, withEachClaude } from './rig.ts';

const inWords = ({ agent, doing }: Activity): string =>
  `${agent} ${doing.kind} ${doing.kind === 'uses' ? `${doing.tool} ${doing.detail}` : doing.kind === 'retries' ? doing.reason : doing.text}`;

const TASK = {
  description: 'count things',
  prompt: 'sub «say I count.» «+tool Bash {"command":"pwd"}» «say nothing below»',
  subagent_type: 'general-purpose',
};

withEachClaude('what an agent does', (pinned) => {
  test('is observed live and printed by the logs afterwards, including sub-agents', async (context) => {
    const seen: Activity[] = [];
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': `I am START. «say First I write.» «+tool Write {"file_path":"made.txt","content":"by hand"}» «tool Bash {"command":"npm install x","description":"d"}» «tool Agent ${JSON.stringify(TASK)}» «say Done. <goto>CHECK</goto>»`,
        'CHECK.sh': 'cat made.txt; echo; echo odd >&2; echo "<result>r</result>"',
      },
      watch: (activity) => seen.push(activity),
    });
    const run = await runToEnd(rig);
    expect(run.status).toBe('completed');
    const claude = seen.filter(({ doing }) => doing.kind !== 'prints').map(inWords);
    expect(claude).toStrictEqual([
      'main says First I write.',
      'main uses Write made.txt',
      'main uses Bash npm install x',
      'main uses Agent count things',
      'main uses Bash pwd',
      'main says Done. <goto>CHECK</goto>',
    ]);
    const printed = seen.slice(claude.length).map(inWords);
    expect(printed.toSorted()).toStrictEqual(
      ['main prints by hand', 'main prints odd', 'main prints <result>r</result>'].toSorted(),
    );

    const told: string[] = [];
    await writeLogs(run.id, {
      cwd: rig.cwd,
      storage: storageIn(rig.cwd),
      write: (line) => told.push(line),
      writeMessage: (text) => told.push(text),
    });
    const [session] = rig.eventsOf('turn_started').map((event) => event.session?.id);
    // There may be other lines in between, but these are there, in this order.
    const missing: RegExp[] = [];
    let from = 0;
    for (const line of [
      /^── .* run workflow-/,
      new RegExp(`\\[main\\] START\\.md, turn 1, new session ${session}$`),
      /^ {2}prompt$/,
      /^ {4}I am START\. /,
      /^ {2}\| First I write\.$/,
      /^ {2}> Write made\.txt$/,
      /^ {6}File created successfully/,
      /^ {2}> Bash npm install x$/,
      /^ {6}! .*requires approval/,
      /^ {2}> Agent count things$/,
      /^ {4}> Bash pwd$/,
      /^ {8}\/.*\/work$/,
      /^ {4}Agent count things:$/,
      /^ {2}\| Done\. <goto>CHECK<\/goto>$/,
      /^ {2}warning: not permitted: Bash\(npm install x\)/,
      /^ {2}START\.md → CHECK\.sh \(goto\) \$0\.0\d+, /,
      /^── .* \[main\] CHECK\.sh, turn 2$/,
      /^ {2}\| by hand$/,
      /^ {2}\| <result>r<\/result>$/,
      /^ {2}! odd$/,
      /^ {2}CHECK\.sh → end \(result\) \$0\.00, /,
      /^── .* the run has ended: completed, \$0\.0\d+, .* tokens$/,
    ]) {
      const at = told.findIndex((each, index) => index >= from && line.test(each));
      if (at < 0) missing.push(line);
      else from = at + 1;
    }
    expect(missing, told.join('\n')).toStrictEqual([]);
  });

  test('is shown at once where it says <print>, and is on record at the end of the turn', async (context) => {
    const story: string[] = [];
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': `«say <print>I begin.</print> <goto>NOT</goto>» «+tool Bash {"command":"until [ -e go ]; do sleep 0.05; done"}» «say <print>All is done.</print> <goto>END</goto>»`,
        'END.sh': 'echo "<result>r</result>"',
      },
      options: { permissionMode: 'acceptEdits', skipPermissions: true },
      env: { IS_SANDBOX: '1' },
      watchPrints({ text, agent, state, turn }) {
        story.push(`${agent} ${state} ${turn} ${text}`);
        if (text === 'I begin.') writeFileSync(join(rig.cwd, 'go'), '');
      },
    });
    const run = await runToEnd(rig);
    expect(run.status).toBe('completed');
    expect(story).toStrictEqual(['main START.md 1 I begin.', 'main START.md 1 All is done.']);
    expect(rig.eventsOf('printed').map(({ text }) => text)).toStrictEqual(['I begin.', 'All is done.']);
  });
});
