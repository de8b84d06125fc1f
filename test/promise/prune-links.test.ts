import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runWorkflow } from '../../src/app/start.ts';
import { signAsUser } from '../../src/app/trust/run-seal.ts';
import { type CliProject, newCliProject } from '../cli/cli-project.ts';
import { git } from '../git.ts';

/*
 * A stranger's clone holds a `.raymond` folder with links that lead out of the project, and with notes about removals. Nothing outside goes, and
 * nothing that the preview has not named.
 */

/** A folder outside of the project with something in it that must stay. */
function newPrecious({ configHome }: CliProject): string {
  const folder = join(configHome, 'precious');
  mkdirSync(folder);
  writeFileSync(join(folder, 'file'), 'precious');
  return folder;
}

const write = (path: string, text = ''): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const inRaymond = ({ cwd }: CliProject, ...names: readonly string[]): string => join(cwd, '.raymond', ...names);

async function newCompletedRun(id = 'r1'): Promise<CliProject> {
  const project = newCliProject();
  writeFileSync(join(project.cwd, 'DONE.sh'), 'echo "<result>r</result>"');
  await (await runWorkflow('DONE.sh', { cwd: project.cwd, runId: id })).finished;
  return project;
}

test.each(['tasks', 'debug', 'runs', 'worktrees'])(
  'a planted note about a removal is not believed, and no link at .raymond/%s is followed',
  async (name) => {
    const project = newCliProject();
    const precious = newPrecious(project);
    mkdirSync(inRaymond(project, 'state'), { recursive: true });
    symlinkSync(dirname(precious), inRaymond(project, name));
    for (const text of ['', '{}', 'a'.repeat(64)]) {
      write(inRaymond(project, 'state/precious.pruned'), text);
      const preview = await project.raymond('prune');
      expect(preview.err).toContain('precious.pruned says that a run was removed, but you have not written it');
      await project.raymond('prune', '--yes');
      await project.raymond('worktrees', '--prune', '--yes');
      expect(existsSync(join(precious, 'file'))).toBe(true);
    }
  },
);

test.each(['tasks', 'debug', 'runs'])('a run is not removed through a link at .raymond/%s', async (name) => {
  const project = await newCompletedRun();
  const outside = join(project.configHome, name);
  mkdirSync(inRaymond(project, name), { recursive: true });
  renameSync(inRaymond(project, name), outside);
  symlinkSync(outside, inRaymond(project, name));
  write(join(outside, 'r1', 'precious'));
  const before = readdirSync(outside);
  const link = inRaymond(project, name);
  expect((await project.raymond('prune')).err).toContain(`r1 stays: ${link} is a link.`);
  expect(await project.raymond('prune', '--yes')).toMatchObject({
    code: 64,
    err: expect.stringContaining(`${link} is a link: nothing is removed through it.`),
  });
  expect([readdirSync(outside), existsSync(join(outside, 'r1', 'precious'))]).toStrictEqual([before, true]);
});

test('nothing is removed from a .raymond that is itself a link', async () => {
  const project = await newCompletedRun();
  const victim = newCliProject();
  renameSync(inRaymond(project), join(victim.cwd, '.raymond'));
  symlinkSync(join(victim.cwd, '.raymond'), inRaymond(project));
  expect(await project.raymond('prune', '--yes')).toMatchObject({ code: 64 });
  expect(existsSync(join(victim.cwd, '.raymond/state/r1.json'))).toBe(true);
});

test('a link that is the folder of a run goes, and what it leads to stays', async () => {
  const project = await newCompletedRun();
  const precious = newPrecious(project);
  rmSync(inRaymond(project, 'tasks/r1'), { recursive: true });
  symlinkSync(precious, inRaymond(project, 'tasks/r1'));
  expect(await project.raymond('prune', '--yes')).toMatchObject({ code: 0 });
  expect([existsSync(join(precious, 'file')), existsSync(inRaymond(project, 'tasks/r1'))]).toStrictEqual([true, false]);
});

test('links in the worktrees of a run are not followed', async () => {
  const project = await newCompletedRun();
  const precious = newPrecious(project);
  mkdirSync(inRaymond(project, 'worktrees/r1'), { recursive: true });
  symlinkSync(precious, inRaymond(project, 'worktrees/r1/main_w1'));
  const empty = join(project.configHome, 'empty');
  mkdirSync(empty);
  symlinkSync(empty, inRaymond(project, 'worktrees/r1/main_w2'));
  await project.raymond('worktrees', '--prune', '--yes');
  await project.raymond('prune', '--yes');
  expect([existsSync(join(precious, 'file')), existsSync(empty)]).toStrictEqual([true, true]);
});

test('a clone of the user is not removed as the worktree of a run, through a link at .raymond/worktrees', async () => {
  const project = await newCompletedRun();
  const clones = join(project.configHome, 'clones');
  mkdirSync(join(clones, 'r1'), { recursive: true });
  git(join(clones, 'r1'), 'init', '-q', 'origin');
  git(join(clones, 'r1/origin'), 'commit', '-q', '--allow-empty', '-m', 'first');
  git(join(clones, 'r1'), 'clone', '-q', 'origin', 'main');
  symlinkSync(clones, inRaymond(project, 'worktrees'));
  expect((await project.raymond('worktrees')).out).toBe('');
  await project.raymond('worktrees', '--prune', '--yes');
  await project.raymond('prune', '--yes');
  expect(readdirSync(join(clones, 'r1'))).toStrictEqual(['main', 'origin']);
});

test('a removal that was cut short is in the preview, and is finished', async () => {
  const project = await newCompletedRun();
  const root = realpathSync(inRaymond(project));
  const env = { XDG_CONFIG_HOME: project.configHome };
  const signature = await signAsUser(JSON.stringify(['removed run', root, 'r1']), env);
  renameSync(inRaymond(project, 'state/r1.json'), inRaymond(project, 'state/r1.pruned'));
  writeFileSync(inRaymond(project, 'state/r1.pruned'), `${signature}\n`);
  expect((await project.raymond('prune')).out).toMatch(/\nr1 +half removed /);
  expect(lstatSync(inRaymond(project, 'runs/r1')).isDirectory()).toBe(true);
  expect(await project.raymond('prune', '--yes')).toMatchObject({ code: 0 });
  expect([existsSync(inRaymond(project, 'runs/r1')), existsSync(inRaymond(project, 'state/r1.pruned'))]).toStrictEqual([
    false,
    false,
  ]);
});
