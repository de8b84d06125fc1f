import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/app/config/load-config.ts';
import { composeRun } from '../../src/app/start.ts';
import { lintWorkflow } from '../../src/app/workflows/lint-workflow.ts';
import { RaymondError } from '../../src/errors.ts';
import { PRODUCTION } from '../../src/wiring/run-context.ts';
import { InvalidWorkflow } from '../../src/workflow/invalid-workflow.ts';
import { temporaryFolders } from '../workflow/temp.ts';
import { BROKEN_INPUTS } from './broken-inputs.ts';

const folder = temporaryFolders();

/** The error of an action; null if there is none. */
async function errorOf(action: () => Promise<unknown>): Promise<RaymondError | null> {
  try {
    await action();
    return null;
  } catch (error) {
    if (error instanceof RaymondError) return error;
    throw error;
  }
}

test.each(BROKEN_INPUTS)('lint and run agree on $title', async ({ path, files }) => {
  const cwd = folder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  const refusal = await errorOf(async () =>
    composeRun(path, { cwd, env: {}, input: 'x', options: loadConfig(cwd, {}).options }, PRODUCTION),
  );
  let findings: Awaited<ReturnType<typeof lintWorkflow>>['findings'] = [];
  const failure = await errorOf(async () => {
    ({ findings } = await lintWorkflow(path, { cwd, env: {} }));
  });
  // Both may refuse the path or the config itself.
  if (failure !== null) return expect(refusal?.message).toBe(failure.message);
  const preventing = findings.filter(({ preventsRun }) => preventsRun);
  expect(preventing.length > 0, refusal?.message ?? JSON.stringify(preventing)).toBe(refusal !== null);
  const places = preventing.map(({ file, line, column }) => `${resolve(cwd, file)}:${line}:${column}`);
  for (const { level, file, line, column } of refusal instanceof InvalidWorkflow ? refusal.findings : [])
    if (level === 'error') expect(places).toContain(`${resolve(cwd, file)}:${line}:${column}`);
  return undefined;
});
