import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git } from '../git.ts';
import type { Command, Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
  const work = join(fleet.folder, 'work');
  mkdirSync(work);
  writeFileSync(join(work, 'a.txt'), 'a\n');
  git(work, 'init', '-q', '-b', 'trunk');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'first');
  git(fleet.folder, 'clone', '-q', '--bare', 'work', 'remote.git');
});

const remote = (): string => join(fleet.folder, 'remote.git');
const COMMIT = 'git -c user.name=a -c user.email=a@b commit -qm';

/** The main agent and its two workers each commit a file; the main agent merges what the workers have pushed. */
const WORKFLOW = {
  'wf/START.sh': `#!/bin/bash
echo main > main.txt; git add . && ${COMMIT} main
echo '<fork worktree="auto" n="1">WORK</fork><fork worktree="auto" n="2">WORK</fork><join>MERGE</join>'
`,
  'wf/WORK.sh': `#!/bin/bash
echo "$n $WORKER $(cat main.txt)" >> "$TRACE"; echo "$n" > "work$n.txt"; git add . && ${COMMIT} "work $n"
echo "<result>$PWD</result>"
`,
  'wf/MERGE.sh': `#!/bin/bash
cp "$RAYMOND_RESULTS_FILE" "$TRACE.json"
for branch in $(grep -o '"branch":"[^"]*"' "$RAYMOND_RESULTS_FILE" | cut -d'"' -f4); do
  git fetch -q origin "$branch" && git -c user.name=a -c user.email=a@b merge -q --no-edit FETCH_HEAD || exit 1
done
echo "<result>$(ls *.txt | tr '\\n' ' ')</result>"
`,
};

async function startWorker(name: string, ...args: readonly string[]): Promise<Command> {
  const folder = join(fleet.folder, 'workers', name);
  const worker = fleet.start(['worker', '--name', name, '--folder', folder, ...args], {
    WORKER: name,
    TRACE: join(fleet.folder, 'trace'),
  });
  await worker.says('is ready');
  return worker;
}

const worktreesOf = (name: string): readonly string[] => {
  const folder = join(fleet.folder, 'workers', name, '.raymond', 'worktrees', 'r1');
  return existsSync(folder) ? readdirSync(folder) : [];
};

describe('a run with a workspace', { timeout: 120_000 }, () => {
  test('works on a worker in a clone that the starter needs not have; all of it is pushed, and nothing stays', async () => {
    fleet.write(WORKFLOW);
    await startWorker('one');
    const ended = await fleet.run('run', 'wf', '--run-id', 'r1', '--workspace', 'remote.git#trunk');
    expect(ended, ended.err).toMatchObject({ code: 0, out: 'a.txt main.txt work1.txt work2.txt\n' });
    expect(git(remote(), 'ls-tree', '--name-only', 'raymond/r1/main').split('\n')).toStrictEqual([
      'a.txt',
      'main.txt',
      'work1.txt',
      'work2.txt',
    ]);
    const status = JSON.parse((await fleet.run('status', 'r1', '--json')).out);
    expect(status.workspace).toMatchObject({ remote: remote(), kept: false, pushed: true, dirty: false });
    expect([worktreesOf('one'), (await fleet.run('worktrees', '--json')).out]).toStrictEqual([
      [],
      '{"worktrees":[]}\n',
    ]);
  });

  test('continues after a kill of every worker in the middle of a clone and of a push, and does nothing twice', async () => {
    fleet.write(WORKFLOW);
    const [at, gate] = [join(fleet.folder, 'at'), join(fleet.folder, 'gate')];
    // The first push waits, before the repository has taken anything.
    const wait = `mkdir '${at}' 2>/dev/null || exit 0; until [ -e '${gate}' ]; do sleep 0.02; done`;
    fleet.write({ 'remote.git/hooks/pre-receive': `#!/bin/sh\n${wait}\n` });
    execFileSync('chmod', ['+x', join(remote(), 'hooks/pre-receive')]);
    const workers = await Promise.all([startWorker('one'), startWorker('two')]);
    const running = fleet.run('run', 'wf', '--run-id', 'r1', '--workspace', 'remote.git');
    await expect.poll(() => existsSync(at), { timeout: 20_000 }).toBe(true);
    for (const worker of workers) await worker.kill('SIGKILL');
    writeFileSync(gate, '');
    await Promise.all([startWorker('one'), startWorker('two')]);
    const ended = await running;
    expect(ended, ended.err).toMatchObject({ code: 0, out: 'a.txt main.txt work1.txt work2.txt\n' });
    const trace = readFileSync(join(fleet.folder, 'trace'), 'utf8').trim().split('\n');
    expect(trace.map((line) => line[0]).sort()).toStrictEqual(['1', '2']);
    expect(git(remote(), 'log', '--format=%s', '--no-merges', 'raymond/r1/main').split('\n').sort()).toStrictEqual([
      'first',
      'main',
      'work 1',
      'work 2',
    ]);
    expect([worktreesOf('one'), worktreesOf('two')]).toStrictEqual([[], []]);
  });

  test('pushes after a kill of its worker in the last turn, which ended before the worker was back', async () => {
    const [at, gate, over] = ['at', 'gate', 'over'].map((name) => join(fleet.folder, name)) as [string, string, string];
    fleet.write({
      'small/START.sh': `#!/bin/bash
echo x > x; git add . && ${COMMIT} x; touch '${at}'; until [ -e '${gate}' ]; do sleep 0.02; done
echo "<result>done</result>"; touch '${over}'
`,
    });
    const one = await startWorker('one');
    const running = fleet.run('run', 'small', '--run-id', 'r1', '--workspace', 'remote.git');
    await expect.poll(() => existsSync(at), { timeout: 20_000 }).toBe(true);
    await one.kill('SIGKILL');
    writeFileSync(gate, '');
    await expect.poll(() => existsSync(over), { timeout: 20_000 }).toBe(true);
    await startWorker('one');
    const ended = await running;
    expect(ended, ended.err).toMatchObject({ code: 0, out: 'done\n' });
    expect([git(remote(), 'show', 'raymond/r1/main:x'), worktreesOf('one')]).toStrictEqual(['x', []]);
  });

  test('waits for the worker that has its clone, even to be rehomed; it says so, can be stopped, and loses nothing', async () => {
    await fleet.database.query(`update raymond.about set worker_deadline = '2 seconds'`);
    const [at, gate] = [join(fleet.folder, 'at'), join(fleet.folder, 'gate')];
    fleet.write({
      'small/START.sh': `#!/bin/bash\necho x > x; git add . && ${COMMIT} x; echo "<result>done</result>"\n`,
      'remote.git/hooks/pre-receive': `#!/bin/sh\ntouch '${at}'; until [ -e '${gate}' ]; do sleep 0.02; done\n`,
    });
    execFileSync('chmod', ['+x', join(remote(), 'hooks/pre-receive')]);
    const one = await startWorker('one', '--label', 'first=yes');
    const running = fleet.run('run', 'small', '--run-id', 'r1', '--workspace', 'remote.git', '--when-lost', 'rehome');
    await expect.poll(() => existsSync(at), { timeout: 20_000 }).toBe(true);
    const two = await startWorker('two');
    await one.kill('SIGKILL');
    await two.says('r1 is given to two');
    await expect
      .poll(async () => (await fleet.run('status', 'r1')).out, { timeout: 30_000 })
      .toContain('the worker one');
    await fleet.run('stop', 'r1', '--now');
    expect(await running).toMatchObject({
      code: 3,
      out: 'done\n',
      err: expect.stringContaining('the worker one is gone'),
    });
    writeFileSync(gate, '');
    await startWorker('one', '--label', 'first=yes');
    const resumed = await fleet.run('resume', 'r1');
    expect(resumed, resumed.err).toMatchObject({ code: 0, out: 'done\n' });
    expect(git(remote(), 'show', 'raymond/r1/main:x')).toBe('x');
  });

  test('waits if the repository refuses it, with a sentence, and a resume pushes from the worker that has it', async () => {
    fleet.write({ ...WORKFLOW, 'remote.git/hooks/pre-receive': '#!/bin/sh\nexit 1\n' });
    execFileSync('chmod', ['+x', join(remote(), 'hooks/pre-receive')]);
    fleet.write({
      'small/START.sh': `#!/bin/bash\necho x > x; git add . && ${COMMIT} x; echo "<result>done</result>"\n`,
    });
    await startWorker('one');
    const refused = await fleet.run('run', 'small', '--run-id', 'r1', '--workspace', 'remote.git');
    expect(refused).toMatchObject({
      code: 3,
      out: 'done\n',
      err: expect.stringContaining('pre-receive hook declined'),
    });
    expect((await fleet.run('worktrees')).out).toContain('raymond/r1/main');
    fleet.write({ 'remote.git/hooks/pre-receive': '#!/bin/sh\nexit 0\n' });
    expect(await fleet.run('resume', 'r1')).toMatchObject({ code: 0, out: 'done\n' });
    expect(git(remote(), 'show', 'raymond/r1/main:x')).toBe('x');
  });
});
