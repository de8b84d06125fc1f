import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { recordScenario } from '../../src/testing/record-scenario.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { runToEnd, setUp, withEachClaude } from './rig.ts';

const tool = (name: string, input: object): string => `«tool ${name} ${JSON.stringify(input)}»`;

withEachClaude('a recorded run', (pinned) => {
  test('has the files that Claude Code wrote and edited, and replays the same way without it', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': [
          'Begin.',
          tool('Write', { file_path: 'a/made.txt', content: 'one\ntwo\n' }),
          tool('Bash', { command: "printf 'x\\ny\\n' > other.txt" }),
          tool('Read', { file_path: 'other.txt' }),
          tool('Edit', { file_path: 'other.txt', old_string: 'y', new_string: '$&' }),
          tool('Edit', { file_path: 'a/made.txt', old_string: 'two', new_string: 'three' }),
          tool('Edit', { file_path: 'a/made.txt', old_string: 'not in it', new_string: 'x' }),
          tool('Bash', { command: 'npm install x' }),
          '«say I am not sure.»',
        ].join(' '),
        'CHECK.sh': 'cat a/made.txt other.txt; echo "<result>$(pwd)</result>"',
      },
      script: ({ prompt }) =>
        prompt.startsWith('Begin.') ? undefined : { blocks: [{ type: 'text', text: 'Sorry. <goto>CHECK</goto>' }] },
    });
    const run = await runToEnd(rig);
    expect(run.status).toBe('completed');
    const { text, testResult, notes } = await recordScenario(run.id, {
      cwd: rig.cwd,
      storage: storageIn(rig.cwd),
      env: { HOME: '/nowhere' },
      realScripts: false,
      output: '-',
      timeoutMs: 20_000,
      abortSignal: new AbortController().signal,
    });
    const { answers, expect: expected } = parse(text, (key, value) => (key === 'seconds' ? undefined : value));
    expect(answers['START.md']).toStrictEqual([
      {
        turns: [
          {
            text: 'I am not sure.',
            write: { 'a/made.txt': 'one\nthree\n', 'other.txt': 'x\n$&\n' },
            deny: ['Bash npm install x'],
            cost: expect.any(Number),
          },
          { text: 'Sorry. <goto>CHECK</goto>', cost: expect.any(Number) },
        ],
      },
    ]);
    const [checked] = answers['CHECK.sh'];
    expect(checked.text ?? checked).toBe('one\nthree\nx\n$&\n<result>.</result>\n');
    expect(expected).toMatchObject({ path: ['START.md', 'CHECK.sh'], results: { main: '.' }, exit: 0 });
    expect(text).not.toContain(rig.cwd);
    expect({ notes, differences: testResult?.differences }).toStrictEqual({ notes: [], differences: [] });
  });
});
