import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EndedCommand, startCommand } from '../built-command.ts';
import { startTestServer } from '../server/test-server.ts';

/*
 * An agent whose writes were not denied, or a stranger's clone, may hold anything in `.raymond`. Each of it is one damaged run
 * at most.
 */

const DEEP = 200_000;
const deepArray = '['.repeat(DEEP) + ']'.repeat(DEEP);

/** Texts at the place of a state file. */
const TEXTS = {
  nothing: '',
  null: 'null',
  number: '5',
  text: '"x"',
  array: '[]',
  object: '{}',
  version: '{"version":1}',
  versions: '{"version":{"valueOf":1}}',
  newest: '{"version":999}',
  deep: deepArray,
  deepfield: `{"version":1,"agents":${deepArray}}`,
  types: '{"version":1,"id":5,"agents":[null,5,[]],"options":"x","ledger":[],"status":{}}',
  proto: '{"version":1,"__proto__":{"agents":[]},"constructor":null}',
  binary: '\u0000\u0001\ufffd',
} as const;

let root: string;
let project: string;
const env = (): NodeJS.ProcessEnv => ({
  ...process.env,
  HOME: join(root, 'home'),
  XDG_CONFIG_HOME: join(root, 'config'),
});

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'raymond-planted-'));
  project = join(root, 'project');
  put('flow/START.sh', 'echo "<result>fine</result>"');
  const { code, stderr } = await startCommand(['run', 'flow', '--run-id', 'good'], project, env()).ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  for (const [name, text] of Object.entries(TEXTS)) put(`.raymond/state/${name}.json`, text);
  mkdirSync(at('.raymond/state/folder.json'));
  execFileSync('mkfifo', [at('.raymond/state/pipe.json'), at('.raymond/runs/pipe')]);
  symlinkSync('loop.json', at('.raymond/state/loop.json'));
  symlinkSync('/dev/zero', at('.raymond/state/endless.json'));
  put('.raymond/state/huge.json', '');
  truncateSync(at('.raymond/state/huge.json'), 3 * 2 ** 30);
  put('.raymond/runs/file', 'x');
  for (const text of ['null', '[]', '{"seq":1}', deepArray])
    put(`.raymond/runs/journal${text.length}/journal.jsonl`, `${text}\n`);
  // A run that is whole apart from one file.
  for (const name of ['owner', 'history', 'journal', 'said']) copyRun(name);
  rmSync(at('.raymond/runs/journal/journal.jsonl'));
  execFileSync('mkfifo', [at('.raymond/runs/journal/journal.jsonl'), at('.raymond/runs/owner/owner.99')]);
  put('.raymond/runs/history/history.json', 'null');
  mkdirSync(at('.raymond/runs/said/said'), { recursive: true });
  execFileSync('mkfifo', [at('.raymond/runs/said/said/000000000000001-x.json')]);
  mkdirSync(at('.raymond/runs/said/answers'), { recursive: true });
  put('.raymond/runs/said/answers/main-1.json', 'null');
  mkdirSync(at('.raymond/runs/said/inbox'), { recursive: true });
  execFileSync('mkfifo', [at('.raymond/runs/said/inbox/pipe.json')]);
  mkdirSync(at('.raymond/runs/said/inbox/folder.json'));
  put('.raymond/runs/said/inbox/main-2.json', 'null');
  put('.raymond/debug/x', '');
  put('.raymond/worktrees/stray', '');
  put('.raymond/tasks/x', '');
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

const at = (path: string): string => join(project, path);

function put(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

function copyRun(name: string): void {
  cpSync(at('.raymond/runs/good'), at(`.raymond/runs/${name}`), {
    recursive: true,
    filter: (path) => !path.includes('alive'),
  });
  cpSync(at('.raymond/state/good.json'), at(`.raymond/state/${name}.json`));
}

const run = (...args: readonly string[]): Promise<EndedCommand> => startCommand(args, project, env()).ended;

/** A bug report has a stack. */
const expectNoBug = ({ code, stderr }: EndedCommand): void => {
  expect(stderr).not.toMatch(/bug in Raymond|\n {4}at /);
  expect([70, null]).not.toContain(code);
};

describe('planted files', () => {
  test.each([['list'], ['list --json'], ['recover'], ['costs'], ['asks'], ['worktrees'], ['prune']])(
    'do not keep `raymond %s` from its work',
    async (command) => {
      const ended = await run(...command.split(' '));
      expectNoBug(ended);
      expect(ended.code).toBe(0);
      if (command.startsWith('list')) for (const id of ['good', 'null', 'pipe']) expect(ended.stdout).toContain(id);
    },
  );

  test('do not keep `raymond doctor` from its report', async () => {
    const ended = await run('doctor');
    expectNoBug(ended);
    expect(ended.stdout).toContain('.raymond');
  });

  test.each(['null', 'deepfield', 'pipe', 'endless', 'huge', 'owner', 'journal', 'said', 'journal400001'])(
    'are one damaged run: %s',
    async (id) => {
      expectNoBug(await run('status', id));
      expectNoBug(await run('logs', id));
    },
  );

  test('do not keep a new run from its work', async () => {
    expect(await run('run', 'flow')).toMatchObject({ code: 0, stdout: 'fine\n' });
  });

  test('do not keep the server from its work', async () => {
    const { id, get } = await startTestServer({ roots: [project], cwd: project, env: env() });
    const { status, body } = await get('/api/runs');
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toContain('"good"');
    for (const run of ['good', 'null', 'pipe', 'journal', 'deep'])
      expect((await get(`/api/runs/${await id()}/${run}`)).status).toBeLessThan(500);
    expect((await get('/api/questions')).status).toBe(200);
    expect((await get('/api/costs')).status).toBe(200);
  });
});
