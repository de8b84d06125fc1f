import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { newCliProject } from './cli-project.ts';

test.each([
  ['a text', 'words', 'words'],
  ['a file, without the line breaks at its end', '@notes.txt', '@first\nsecond'],
  ['stdin', '-', 'from stdin'],
  ['a text that begins with @', '@@home', '@home'],
])('--input takes %s', async (_, written, expected) => {
  const { cwd, terminal } = newCliProject();
  mkdirSync(join(cwd, 'wf'));
  writeFileSync(join(cwd, 'wf', 'START.sh'), 'echo "<result>$RAYMOND_RESULT</result>"');
  writeFileSync(join(cwd, 'notes.txt'), '@first\nsecond\r\n\n');
  const here = { ...terminal(), readStdin: async () => Buffer.from('from stdin\n') };
  expect(await runCli(['wf', '--quiet', '--input', written], here)).toBe(0);
  expect(here.output().out).toBe(`${expected}\n`);
});
