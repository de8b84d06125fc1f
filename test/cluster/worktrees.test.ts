import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git } from '../git.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
});

const COMMIT = 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m';
const WORKFLOW = {
  'wf/START.sh': `#!/bin/bash
echo '<fork worktree="auto">A</fork><fork worktree="auto">B</fork><fork worktree="auto">C</fork><join>END</join>'
`,
  'wf/A.sh': `#!/bin/bash\n${COMMIT} one; ${COMMIT} two; echo "<result>a</result>"\n`,
  'wf/B.sh': '#!/bin/bash\necho x > new.txt; echo "<result>b</result>"\n',
  'wf/C.sh': `#!/bin/bash\n${COMMIT} three; echo "<result>c</result>"\n`,
  'wf/END.sh': '#!/bin/bash\necho "<result>done</result>"\n',
};

const held = async (...argv: readonly string[]) =>
  JSON.parse((await fleet.run('worktrees', '--json', ...argv)).out).worktrees.map(
    ({ agent, holds, commits, worker, removed }: Record<string, unknown>) => [agent, holds, commits, worker, removed],
  );

describe('worktrees on a worker', { timeout: 90_000 }, () => {
  test('are looked at where they are, pruned, discarded, and listed as long as they are there', async () => {
    fleet.write(WORKFLOW);
    const repository = fleet.folder;
    git(repository, 'init', '-q', '-b', 'trunk');
    git(repository, 'commit', '-qm', 'first', '--allow-empty');
    const folder = join(fleet.folder, 'workers/one');
    mkdirSync(folder, { recursive: true });
    const worker = fleet.start(['worker', '--name', 'one', '--folder', folder]);
    await worker.says('is ready');
    const ended = await fleet.run('run', 'wf', '--run-id', 'r1');
    expect(ended, ended.err).toMatchObject({ code: 0 });
    git(repository, 'merge', '-q', 'raymond/r1/main_a1');
    const [a, b, c] = [
      ['main_a1', 'nothing', 0, 'one'],
      ['main_b2', 'work', 0, 'one'],
      ['main_c3', 'work', 1, 'one'],
    ] as const;
    expect(await held()).toStrictEqual([
      [...a, false],
      [...b, false],
      [...c, false],
    ]);
    expect(await held('--prune', '--yes')).toStrictEqual([
      [...a, true],
      [...b, false],
      [...c, false],
    ]);
    const shown = await fleet.run('worktrees', '--discard', 'r1', 'main_b2');
    expect(shown.out).toContain('not committed: new.txt');
    expect(shown.err).toContain('Nothing was removed yet. With --yes, 1 worktree and its branch would go');
    expect(await held('--discard', 'r1', 'main_b2', '--yes')).toStrictEqual([[...b, true]]);
    const { agents } = JSON.parse((await fleet.run('status', 'r1', '--json')).out);
    expect(agents.map(({ worktree }: { worktree: object | null }) => worktree)).toMatchObject([
      null,
      { kept: true, discarded: false },
      { kept: false, discarded: true },
      { kept: true, discarded: false },
    ]);
    expect((await fleet.run('logs', 'r1')).out).toContain('was discarded, with the branch raymond/r1/main_b2');
    const line = '1 worktree holds work and stays: raymond worktrees lists it.\n';
    expect((await fleet.run('prune')).err).toContain(line);
    expect(await fleet.run('prune', '--yes')).toMatchObject({ code: 0, err: line });
    await expect.poll(() => existsSync(join(folder, '.raymond/runs/r1')), { timeout: 20_000 }).toBe(false);
    expect(await held()).toStrictEqual([[...c, false]]);
    expect(await held('--discard', 'r1', '--yes')).toStrictEqual([[...c, true]]);
    expect([await held(), git(repository, 'branch', '--list', 'raymond/*')]).toStrictEqual([[], '']);
    const trees = join(folder, '.raymond/worktrees/r1');
    expect(existsSync(trees) ? readdirSync(trees) : []).toStrictEqual([]);
  });
});
