import { existsSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git } from '../git.ts';
import type { Command, Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
});

const file = (name: string): string => join(fleet.folder, name);

const gitHere = (...args: readonly string[]): string => git(fleet.folder, ...args);

/** A bare repository with one commit. */
function makeRemote(): string {
  gitHere('init', '--quiet', '--bare', '--initial-branch=main', 'remote.git');
  gitHere('init', '--quiet', '--initial-branch=main', 'first');
  mkdirSync(file('first/app'));
  writeFileSync(file('first/app/a.txt'), 'one\n');
  gitHere('-C', 'first', 'add', '.');
  gitHere('-C', 'first', 'commit', '--quiet', '-m', 'first');
  gitHere('-C', 'first', 'push', '--quiet', '../remote.git', 'main');
  return file('remote.git');
}

/** Its main agent commits, then forks four workers, each of which commits in a worktree of its own what its parent had committed. */
const SPREAD = {
  'spread/START.sh': `#!/bin/bash
git config user.name Ada; git config user.email ada@example.com
echo two > app/a.txt; git commit -qam two
echo "<reset cd='app'>FORK.sh</reset>"
`,
  'spread/FORK.sh': `#!/bin/bash
for n in 1 2 3 4; do echo "<fork worktree='auto' n='$n'>WORK.sh</fork>"; done
echo "<join>END.sh</join>"
`,
  'spread/WORK.sh': `#!/bin/bash
echo "$WORKER $(cat a.txt) $(basename $PWD)" >> "$TRACE"
while [ -e "$GATE" ]; do sleep 0.05; done
git config user.name Ada; git config user.email ada@example.com
echo "$n" > "part$n.txt"; git add .; git commit -qm "part $n"
echo "<result>$n</result>"
`,
  'spread/END.sh': `#!/bin/bash
cp "$RAYMOND_RESULTS_FILE" "$TRACE.json"
echo "<result>joined</result>"
`,
};

async function startWorker(name: string): Promise<Command> {
  const folder = join(fleet.folder, 'workers', name);
  const env = { WORKER: name, TRACE: file('trace'), GATE: file('gate') };
  const worker = fleet.start(['worker', '--name', name, '--folder', folder], env);
  await worker.says('is ready');
  return worker;
}

const trace = (): readonly string[] => readFileSync(file('trace'), 'utf8').trimEnd().split('\n').toSorted();

describe('workers with worktrees of their own, in a run that works in a clone', { timeout: 90_000 }, () => {
  test('are spread over the workers, begin with what their parent had committed, and push their branches', async () => {
    fleet.write(SPREAD);
    const remote = makeRemote();
    await Promise.all([startWorker('one'), startWorker('two')]);
    const ended = await fleet.run('run', 'spread', '--run-id', 'wide', '--workspace', remote);
    expect(ended).toMatchObject({ code: 0, out: 'joined\n' });
    const homes = trace().map((line) => line.split(' ')[0]);
    expect(homes.filter((home) => home === 'one')).toHaveLength(2);
    expect(homes.filter((home) => home === 'two')).toHaveLength(2);
    expect(trace().map((line) => line.slice(4))).toStrictEqual(Array(4).fill('two app'));
    const status = JSON.parse((await fleet.run('status', 'wide', '--json')).out);
    const agents: readonly { id: string; home: string; worktree: { branch: string; pushed: boolean } | null }[] =
      status.agents;
    expect(
      agents
        .map(({ home }) => home)
        .toSorted()
        .join(' '),
    ).toMatch(/^(one one one two two|one one two two two)$/);
    for (const { id, worktree } of agents.slice(1)) {
      expect(worktree).toMatchObject({
        branch: `raymond/wide/${id}`,
        kept: false,
        commits: 1,
        dirty: false,
        pushed: true,
      });
      expect(gitHere('-C', remote, 'log', '--format=%s', `raymond/wide/${id}`)).toMatch(/^part \d\ntwo\nfirst$/);
    }
    const results = JSON.parse(readFileSync(file('trace.json'), 'utf8'));
    expect(results).toMatchObject(Array(4).fill({ remote, commits: 1, worktree: null }));
  });

  test('come to the same if all workers are killed while branches are pushed and cloned', async () => {
    fleet.write(SPREAD);
    const remote = makeRemote();
    // Git says so when a push begins, and takes its time.
    const hook = '#!/bin/sh\necho pushed >> "$TRACE.pushes"\nsleep 0.3\n';
    writeFileSync(join(remote, 'hooks/pre-receive'), hook, { mode: 0o755 });
    const pushes = (): number =>
      existsSync(file('trace.pushes')) ? readFileSync(file('trace.pushes'), 'utf8').length : 0;
    const startAll = (): Promise<readonly Command[]> => Promise.all(['one', 'two'].map(startWorker));
    let workers = await startAll();
    const following = fleet.run('run', 'spread', '--run-id', 'wide', '--workspace', remote);
    for (let kills = 0; kills < 2; kills += 1) {
      const before = pushes();
      await expect.poll(pushes, { timeout: 20_000 }).toBeGreaterThan(before);
      await Promise.all(workers.map((worker) => worker.kill()));
      workers = await startAll();
    }
    expect(await following).toMatchObject({ code: 0, out: 'joined\n' });
    expect(trace().map((line) => line.slice(4))).toStrictEqual(Array(4).fill('two app'));
    for (const n of [1, 2, 3, 4])
      expect(gitHere('-C', remote, 'log', '--format=%s', `raymond/wide/main_work${n}`)).toBe(`part ${n}\ntwo\nfirst`);
  });

  test('stay with their parent, and the run says why, if its commit cannot be pushed', async () => {
    fleet.write({ ...SPREAD, 'spread/END.sh': `rm ${file('refuse')}\n${SPREAD['spread/END.sh']}`, refuse: '' });
    const remote = makeRemote();
    const hook = `#!/bin/sh\nif [ -e '${file('refuse')}' ] && grep -q main_work; then exit 1; fi\nexit 0\n`;
    writeFileSync(join(remote, 'hooks/pre-receive'), hook, { mode: 0o755 });
    await Promise.all([startWorker('one'), startWorker('two')]);
    const ended = await fleet.run('run', 'spread', '--run-id', 'wide', '--workspace', remote);
    expect(ended, ended.err).toMatchObject({ code: 0, out: 'joined\n' });
    expect(new Set(trace().map((line) => line.split(' ')[0])).size).toBe(1);
    const [parent, other] = trace()[0]?.startsWith('one') ? ['one', 'two'] : ['two', 'one'];
    const said = new RegExp(
      `main_work\\d stays on ${parent}: its commit could not be pushed for ${other}: .*pre-receive hook declined`,
    );
    expect(ended.err).toMatch(said);
    expect((await fleet.run('logs', 'wide')).out).toMatch(said);
    expect((await fleet.run('status', 'wide')).out.replace(/\s+/g, ' ')).toMatch(said);
  });

  test('wait for a worker that is gone, although they are to continue elsewhere; the run says why, and the work can be given up', async () => {
    fleet.write({ ...SPREAD, gate: '' });
    const remote = makeRemote();
    await fleet.database.query(`update raymond.about set worker_deadline = '2 seconds'`);
    const workers = await Promise.all([startWorker('one'), startWorker('two')]);
    const follower = fleet.start(['run', 'spread', '--run-id', 'wide', '--workspace', remote, '--when-lost', 'rehome']);
    await expect.poll(() => (existsSync(file('trace')) ? trace().length : 0), { timeout: 30_000 }).toBe(4);
    const [row] = await fleet.database.query<{ driver: string }>('select driver from raymond.runs');
    const lost = workers.find((_, index) => row?.driver !== ['one', 'two'][index]);
    await lost?.kill('SIGKILL');
    const kept =
      'with a clone or worktree that may hold work which is nowhere else: start it again, or give that work up';
    await follower.says(kept);
    const { out } = await fleet.run('status', 'wide');
    expect(out.replace(/\s+/g, ' ')).toContain(kept);
    await fleet.run('stop', 'wide', '--now');
    expect((await follower.ended).code).toBe(3);
    unlinkSync(file('gate'));
    const ended = await fleet.run('resume', 'wide', '--retry', '--when-lost', 'fail');
    expect(ended, ended.err).toMatchObject({ code: 0, out: 'joined\n' });
    expect(ended.err).toContain('`resume --retry` tries again once that worker is back');
    const results: readonly { status: string }[] = JSON.parse(readFileSync(file('trace.json'), 'utf8'));
    expect(results.map(({ status }) => status).toSorted()).toStrictEqual(['ended', 'ended', 'failed', 'failed']);
  });

  test('get another home if theirs is gone before they could begin', async () => {
    fleet.write(SPREAD);
    const remote = makeRemote();
    await fleet.database.query(`update raymond.about set worker_deadline = '2 seconds'`);
    const gone = await startWorker('gone');
    await gone.kill();
    const following = fleet.run('run', 'spread', '--run-id', 'wide', '--workspace', remote, '--label', 'nobody=yes');
    await fleet.setHome('wide', 'one');
    await fleet.database.query(`insert into raymond.placements values ('wide', 'main_work1', 'gone')`);
    await startWorker('one');
    await fleet.database.query(`update raymond.runs set labels = '{}'`);
    expect(await following).toMatchObject({ code: 0, out: 'joined\n' });
    expect(trace()).toStrictEqual(Array(4).fill('one two app'));
  });
});
