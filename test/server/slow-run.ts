import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runWorkflow } from '../../src/app/start.ts';
import type { RunHandle } from '../../src/wiring/run-handle.ts';
import { writeWorkflow } from '../cli/owners.ts';
import type { TestServer } from './test-server.ts';

/** Starts a run r1 whose first turn takes ten minutes, with canned answers. */
export function startSlowRun({ cwd }: TestServer): Promise<RunHandle> {
  writeWorkflow(cwd, 'wf', { 'START.md': 'Begin.' });
  writeFileSync(join(cwd, 'answers.yaml'), 'answers: { START: { text: <result>slow</result>, seconds: 600 } }\n');
  const options = { agent: `replay:${join(cwd, 'answers.yaml')}` };
  const env = { ...process.env, RAYMOND_REPLAY: '' };
  return runWorkflow(join(cwd, 'wf'), { cwd, runId: 'r1', env, options });
}
