import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runWorkflow } from '../../src/app/start.ts';
import { lintWorkflow } from '../../src/app/workflows/lint-workflow.ts';
import { openWorkflow } from '../../src/workflow/workflow.ts';

/** A folder with a workflow `wf` in it and a private file beside that. */
function newProject(): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-links-')));
  onTestFinished(() => rmSync(project, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(project, 'wf'));
  writeFileSync(join(project, 'private.md'), 'secret\n');
  writeFileSync(join(project, 'wf', 'START.sh'), 'echo "<result>r</result>"\n');
  return project;
}

const messageFor = (target: string): string =>
  `it is a link that leads out of the workflow, to \`${target}\`: put the file itself here`;

test.each([
  ['a state', 'KEY.md', '../private.md', 'private.md'],
  ['a file that is no state', 'notes.txt', '../private.md', 'private.md'],
  ['a folder', 'all', '..', ''],
  ['nothing', 'GONE.md', '../gone.md', 'gone.md'],
])('a link that leads out of the workflow to %s is an error', async (_, name, target, resolved) => {
  const project = newProject();
  symlinkSync(target, join(project, 'wf', name));
  const message = messageFor(join(project, resolved));
  const { findings } = await lintWorkflow('wf', { cwd: project, variables: [] });
  expect(findings.filter(({ level }) => level === 'error')).toMatchObject([{ file: `wf/${name}`, message }]);
  await expect(runWorkflow('wf', { cwd: project })).rejects.toMatchObject({
    exitCode: 65,
    message: `wf cannot be run: 1 error\nwf/${name}: ${message}`,
  });
});

test('a link within the workflow is a file, and the folder itself may be reached by a link', async () => {
  const project = newProject();
  symlinkSync('START.sh', join(project, 'wf', 'AGAIN.sh'));
  symlinkSync('wf', join(project, 'linked'));
  const { scope, findings } = await openWorkflow(join(project, 'linked'), 'unix');
  expect([(await scope()).files, findings]).toStrictEqual([['AGAIN.sh', 'START.sh'], []]);
});

test('documentation and hidden files may be links to anything', async () => {
  const project = newProject();
  for (const name of ['README.md', '.env']) symlinkSync('../private.md', join(project, 'wf', name));
  expect((await openWorkflow(join(project, 'wf'), 'unix')).findings).toStrictEqual([]);
});

test('beside a state that the user named, only links with the names of states count', async () => {
  const project = newProject();
  symlinkSync('..', join(project, 'wf', 'data'));
  const path = join(project, 'wf', 'START.sh');
  expect((await openWorkflow(path, 'unix')).findings).toStrictEqual([]);
  symlinkSync('../private.md', join(project, 'wf', 'KEY.md'));
  await expect(openWorkflow(path, 'unix')).rejects.toMatchObject({ exitCode: 65 });
});

test('a state that becomes such a link while the run continues is not read', async () => {
  const project = newProject();
  const workflow = await openWorkflow(join(project, 'wf'), 'unix');
  symlinkSync('../private.md', join(project, 'wf', 'NEXT.md'));
  await expect(workflow.state('NEXT.md')).rejects.toMatchObject({ exitCode: 65 });
});
