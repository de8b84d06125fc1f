import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRunEvents } from '../../src/app/run-files.ts';
import { Notifier } from '../../src/wiring/notifier.ts';
import { RunDriver } from '../core/run-driver.ts';
import { checkDocument } from '../documents/check-documents.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

interface Told {
  readonly run_id: string;
  readonly folder: string;
  readonly message: string;
  readonly notices: readonly { readonly reason: string; readonly kind: string; readonly ask_id?: string }[];
}

const readTold = (file: string): readonly Told[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      checkDocument('Notification', JSON.parse(line));
      return JSON.parse(line) as Told;
    });

test('a command is told of a question, a failure and the end, each once', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', {
    'START.sh': 'echo "<fork next=ASK>BAD</fork>"',
    'BAD.sh': 'exit 3',
    'ASK.sh': `echo '<ask next="NEXT">Publish it?</ask>'`,
    'NEXT.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
  });
  await raymond('wf', '--run-id', 'r1', '--quiet', '--notify', 'tr -d "\\n" >> told; echo >> told');
  const told = readTold(join(cwd, 'told'));
  expect(told.flatMap(({ notices }) => notices.map(({ reason }) => reason)).sort()).toStrictEqual([
    'end',
    'failure',
    'question',
  ]);
  expect(new Set(told.map(({ run_id, folder }) => `${run_id} ${folder}`))).toStrictEqual(new Set([`r1 ${cwd}`]));
  expect(told.map(({ message }) => message).join('\n')).toContain('[main] asks (main-2): Publish it?');
  expect(told.flatMap(({ notices }) => notices)).toContainEqual(
    expect.objectContaining({ ask_id: 'main-2', answer_command: 'raymond answer r1 main-2 "TEXT"' }),
  );
  // The run remembers it.
  await raymond('answer', 'r1', 'yes', '--resume');
  expect(readTold(join(cwd, 'told')).at(-1)?.notices).toMatchObject([{ reason: 'end', kind: 'run_ended' }]);
});

test('a command that fails is a warning once, and changes nothing else', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', {
    'START.sh': 'echo "<fork next=END>BAD</fork><fork next=END>BAD</fork>"',
    'BAD.sh': 'exit 3',
    'END.sh': 'sleep 0.5; echo "<result>done</result>"',
  });
  const { code } = await raymond('wf', '--run-id', 'r1', '--notify', 'echo no mail here >&2; exit 7');
  expect(code).toBe(1);
  expect((await readRunEvents('r1', storageIn(cwd))).filter(({ kind }) => kind === 'warning')).toMatchObject([
    { message: 'the command of --notify failed: exit code 7, no mail here; the run continues' },
  ]);
});

test('a command that fails only at the end is told, too', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', { 'START.sh': 'echo "<result>done</result>"' });
  const { code, out, err } = await raymond('wf', '--notify', 'exit 7', '--quiet');
  expect([code, out]).toStrictEqual([0, 'done\n']);
  expect(err).toContain('warning: the command of --notify failed: exit code 7; the run continues\n');
});

test("a project's file may not name a command until its user trusts it", async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', { 'START.sh': 'echo "<result>done</result>"' });
  await raymond('--init-config');
  writeFileSync(join(cwd, '.raymond', 'config.toml'), '[raymond]\nnotify = "touch told"\n');
  const { code, err } = await raymond('wf');
  expect([code, existsSync(join(cwd, 'told'))]).toStrictEqual([64, false]);
  expect(err).toContain('notify');
});

test('a command that hangs is ended, what happens meanwhile is told together, and at most a hundred things', async () => {
  const { cwd } = newCliProject();
  const warnings: string[] = [];
  const { run } = new RunDriver({ files: ['START.md'] });
  const command = 'if [ -e first ]; then cat > second; else touch first; sleep 1000; fi';
  const context = { run, command, cwd, env: process.env, limitMs: 500, warn: (text: string) => warnings.push(text) };
  const notifier = new Notifier(context);
  const failed = (agent: string) => ({
    kind: 'agent_failed' as const,
    at: 1,
    agent,
    state: 'START.md',
    message: 'bad',
  });
  notifier.observe([failed('main')]);
  await new Promise((done) => setTimeout(done, 100));
  notifier.observe(Array.from({ length: 150 }, (_, at) => failed(`main_w${at}`)));
  await notifier.close(5000);
  expect(warnings).toStrictEqual([
    'the command of --notify failed: it took longer than 0.5 s and was ended; the run continues',
  ]);
  const told = JSON.parse(readFileSync(join(cwd, 'second'), 'utf8')) as Told & { readonly left_out: number };
  expect([told.notices.length, told.left_out]).toStrictEqual([100, 50]);
  expect(told.message.split('\n').at(-1)).toBe('… and 50 more');
});
