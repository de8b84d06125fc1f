import { describe, expect, test } from 'vitest';
import { addBashSyntaxErrors } from '../../src/app/workflows/lint-workflow.ts';
import { lintSource } from '../../src/lint/lint.ts';
import { sourceOf } from '../lint/source-of.ts';

const WINDOWS = process.platform === 'win32';

const findIn = async (script: string): Promise<readonly string[]> =>
  lintSource(await addBashSyntaxErrors(sourceOf({ 'START.sh': `#!/bin/bash\n${script}\n` }))).map(
    ({ rule, line }) => `${rule} ${line}`,
  );

describe.skipIf(WINDOWS)('scripts that bash cannot read (not on Windows)', () => {
  test.each([
    ['an if without its end', 'if [ -f a ]; then\n  echo "<result>a</result>"'],
    ['an end without its if', 'echo "<result>a</result>"\nfi'],
    ['a then without a line of its own', 'if [ -f a ] then\n  echo "<result>a</result>"\nfi'],
    ['a loop without its end', 'for x in a b; do\n  echo "<fork>B</fork>"'],
    ['a quote that is not closed', 'echo "<result>a</result>'],
    ['a bracket too many', 'f() { echo "<result>a</result>"; } }'],
    ['a case without its end', 'case "$x" in\n  a) echo "<result>a</result>" ;;'],
  ])('are found: %s', async (_, script) => {
    const [first, ...others] = await findIn(script);
    expect([first?.replace(/ \d+$/, ''), others]).toStrictEqual(['bash-syntax', []]);
  });

  test('are reported at the place that bash names', async () => {
    expect(await findIn('if true; then\n  :\nfi\nfi\necho "<result>a</result>"')).toStrictEqual(['bash-syntax 5']);
  });

  test.each([
    ['what only bash understands', 'coproc cat\nselect x in a b; do break; done\necho "<result>a</result>"'],
    ['a here document without its end, which bash forgives', 'cat <<E\n<result>a</result>'],
    ['a tag without quotes, of which something better is said', 'echo <result>a</result>'],
  ])('are not reported: %s', async (_, script) => {
    expect((await findIn(script)).filter((each) => each.startsWith('bash-syntax'))).toStrictEqual([]);
  });
});
