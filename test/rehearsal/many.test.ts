import { expect, onTestFinished, test } from 'vitest';
import { rehearse } from '../../src/rehearsal/rehearse.ts';
import { readRepertoire } from '../../src/rehearsal/repertoire.ts';
import { openSandboxes } from '../../src/rehearsal/sandbox.ts';
import { folderWith, REQUEST } from './rig.ts';

test('however many scenarios are played at once, there is nothing to warn of', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));

  const folder = folderWith({ 'START.md': 'Hi.', 'a.test.yaml': 'answers: { START: <result>yes</result> }' });
  const { pieces } = await readRepertoire(['a.test.yaml'], folder);
  const sandboxes = openSandboxes(false);
  const { signal: enough } = new AbortController();
  const thirty = Array.from({ length: 30 }, () => pieces).flat();
  const played = await Promise.all(
    thirty.map(({ rehearsal, workflow }) =>
      rehearse(rehearsal, workflow, { ...REQUEST, enough, folder: sandboxes.make(false) }),
    ),
  );
  await sandboxes.close();
  expect(played.map(({ run }) => run.status)).toStrictEqual(Array(30).fill('completed'));
  expect(warnings).toStrictEqual([]);
});
