import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runWorkflow } from '../../src/app/start.ts';
import type { Activity } from '../../src/core/run/activity.ts';
import type { Run } from '../../src/core/run/run.ts';
import { runScriptTurn } from '../../src/turns/script-turn.ts';
import type { TurnContext } from '../../src/turns/turn-context.ts';
import { eventually } from '../process/turns.ts';
import { newTurnContext } from './turn-context.ts';
import { newScriptTurn } from './turns.ts';

/** A folder with a workflow of scripts in it. */
function folderWith(scripts: Readonly<Record<string, string>>): string {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-prints-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(cwd, 'wf'));
  for (const [name, text] of Object.entries(scripts)) writeFileSync(join(cwd, 'wf', name), text);
  return cwd;
}

async function run(cwd: string, watch: (activity: Activity) => void): Promise<Run> {
  return (await runWorkflow('wf', { cwd, watch })).finished;
}

const textOf = ({ doing }: Activity): string => (doing.kind === 'prints' ? doing.text : doing.kind);

test('each line of a script is observed while it runs, on either stream', async () => {
  const cwd = folderWith({
    'START.sh': `printf 'begun\\n\\n'; echo odd >&2; until [ -e go ]; do sleep 0.01; done
      printf '\\033[1mbold\\033[0m\\n'; printf '<result>r</result>'`,
  });
  const seen: Activity[] = [];
  const finished = run(cwd, (activity) => seen.push(activity));
  await eventually('both lines', () => seen.length === 2);
  expect(seen.map(textOf).toSorted()).toStrictEqual(['begun', 'odd']);
  writeFileSync(join(cwd, 'go'), '');
  expect((await finished).status).toBe('completed');
  expect(seen.slice(2).map(textOf)).toStrictEqual(['\u001b[1mbold\u001b[0m', '<result>r</result>']);
  expect(new Set(seen.map(({ agent }) => agent))).toStrictEqual(new Set(['main']));
});

test('all lines are observed before the end of the script', async () => {
  const cwd = folderWith({ 'START.sh': 'seq 2000; echo "<goto>NEXT</goto>"', 'NEXT.sh': 'echo "<result>r</result>"' });
  const story: string[] = [];
  const running = await runWorkflow('wf', {
    cwd,
    watch: (activity) => story.push(textOf(activity)),
    observe: ({ kind }) => story.push(kind),
  });
  await running.finished;
  const first = story.slice(story.indexOf('turn_started') + 1, story.indexOf('turn_ended'));
  expect(first).toStrictEqual([...Array.from({ length: 2000 }, (_, index) => `${index + 1}`), '<goto>NEXT</goto>']);
});

test('an observer that throws does not affect the turn', async () => {
  const cwd = folderWith({ 'START.sh': 'echo a; echo b >&2; echo "<result>r</result>"' });
  const ended = await run(cwd, () => {
    throw new Error('I look no more');
  });
  expect(ended.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'r' }]);
});

test('a script that was started by an earlier process is observed, too', async () => {
  const cwd = folderWith({ 'START.sh': 'echo a; echo "<result>r</result>"' });
  const dir = join(cwd, 'turn');
  mkdirSync(dir);
  writeFileSync(join(dir, 'stdin'), '');
  const turn = newScriptTurn(cwd);
  const seen: string[] = [];
  const take = (adopted: boolean, onActivity: TurnContext['onActivity']) =>
    runScriptTurn(newTurnContext(dir, { scriptPath: (file) => join(cwd, 'wf', file), onActivity }), turn, adopted);
  expect(await take(false, undefined)).toMatchObject({ kind: 'answered' });
  expect(seen).toStrictEqual([]);
  const again = await take(true, (activity) => seen.push(textOf(activity)));
  expect(again).toMatchObject({ kind: 'answered' });
  expect(seen).toStrictEqual(['a', '<result>r</result>']);
});
