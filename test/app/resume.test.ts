import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { resumeRun } from '../../src/app/resume.ts';
import { runWorkflow } from '../../src/app/start.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import { takeOwnership } from '../../src/storage/files/owner.ts';

test('a resume waits for a process that has ended the run and is about to release it', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-resume-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(cwd, 'workflow'));
  writeFileSync(join(cwd, 'workflow', 'START.sh'), 'test -e go || exit 1\necho "<result>done</result>"\n');
  const failed = await (await runWorkflow('workflow', { cwd })).finished;
  expect(failed.status).toBe('failed');
  writeFileSync(join(cwd, 'go'), '');
  const owner = await takeOwnership(layoutOf(join(cwd, '.raymond')).runFolder(failed.id));
  const resumed = resumeRun('last', { cwd, retry: true });
  setTimeout(() => owner.release(), 200);
  expect((await (await resumed).finished).status).toBe('completed');
});
