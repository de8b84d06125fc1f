import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runScenario } from '../../src/testing/run-scenario.ts';
import { runTests } from '../../src/testing/run-tests.ts';
import { openSandboxFolders } from '../../src/testing/sandbox.ts';
import { readTestSuite } from '../../src/testing/suite.ts';
import { folderWith, REQUEST } from './rig.ts';

test('many simultaneous scenarios cause no warnings', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));

  const folder = folderWith({ 'START.md': 'Hi.', 'a.test.yaml': 'answers: { START: <result>yes</result> }' });
  const { testCases } = await readTestSuite(['a.test.yaml'], folder);
  const sandboxes = openSandboxFolders(false);
  const { signal: enough } = new AbortController();
  const thirty = Array.from({ length: 30 }, () => testCases).flat();
  const played = await Promise.all(
    thirty.map(({ spec, workflow }) =>
      runScenario(spec, workflow, { ...REQUEST, abortSignal: enough, folder: sandboxes.make(false) }),
    ),
  );
  await sandboxes.close();
  expect(played.map(({ run }) => run.status)).toStrictEqual(Array(30).fill('completed'));
  expect(warnings).toStrictEqual([]);
});

test.skipIf(process.platform === 'win32')(
  'after an abort, scenarios that ended behind an unfinished one are reported (not on Windows)',
  async () => {
    const scenarios = `answers: { START: <result>yes</result> }
scenarios: [{ name: hangs, answers: { START: <goto>HANG</goto> } }, { name: one }, { name: two }]`;
    const states = { 'START.md': 'Hi.', 'HANG.sh': '/bin/sleep 600' };
    const folder = folderWith({ ...states, 'a.test.yaml': scenarios });
    const { testCases } = await readTestSuite(['a.test.yaml'], folder);
    const enough = new AbortController();
    const told: unknown[] = [];
    const onlooker = {
      begins: () => {},
      ends(testCase: (typeof testCases)[number], where: readonly string[] | null) {
        told.push([testCase.spec.name, where]);
        if (told.length === 2) enough.abort();
      },
    };
    const names: string[] = [];
    for await (const { testCase } of runTests(testCases, {
      ...REQUEST,
      abortSignal: enough.signal,
      listener: onlooker,
    }))
      names.push(testCase.spec.name);
    expect(names).toStrictEqual(['one', 'two']);
    // The first two run at the same time.
    expect([...told.slice(0, 2).toSorted(), ...told.slice(2)]).toStrictEqual([
      ['one', null],
      ['two', null],
      ['hangs', [expect.stringMatching(/^main in /)]],
    ]);
  },
);

test('all scenarios run with the states as they were when the suite was read', async () => {
  const folder = folderWith({ 'START.md': 'Hi.', 'a.test.yaml': 'answers: { START: <result>yes</result> }' });
  const { testCases } = await readTestSuite(['a.test.yaml'], folder);
  writeFileSync(join(folder, 'START.md'), '---\nmodel: opus\n---\nSay something else.\n');
  const states = await Promise.all(
    testCases.map(async ({ workflow }) => [
      await workflow.state('START.md'),
      (await workflow.stateWithCode('START.md')).state,
    ]),
  );
  const unchanged = expect.objectContaining({ text: 'Hi.', model: null });
  expect(states).toStrictEqual([[unchanged, unchanged]]);
});
