import { describe, expect, test } from 'vitest';
import { parseYamlDocument } from '../../src/yaml/document.ts';
import { newFindingReport } from '../../src/yaml/finding-report.ts';

/** What is said about a text that is no YAML, without what is always said. */
function problemsOf(text: string): readonly string[] {
  const report = newFindingReport('a.yaml');
  parseYamlDocument(text, report);
  return report.findings.map(
    ({ line, column, message }) => `${line}:${column} ${message.replace('this is not valid YAML: ', '')}`,
  );
}

const TAIL = '  - name: a\n    expect: { result: x }\n  - name: b\n    expect:\n      path: [START]\n';
const TOO_DEEP = 'this is indented further than the line before it, which already has a value: indent both alike';

describe('one mistake is reported once, with a hint', () => {
  test.each([
    [`answers:\n  START.md: x\nscenarios\n${TAIL}`, '3:1 there is no colon after this key: write `scenarios:`'],
    ['answers\n  START.md: x\n', '1:1 there is no colon after this key: write `answers:`'],
    [
      'answers:\n  START.md\n    text: a\n    write: { a: b }\n',
      '2:3 there is no colon after this key: write `START.md:`',
    ],
    ['input: x\nscenarios\n', '2:1 there is no colon after this key: write `scenarios:`'],
    ['scenarios:\n  - name a\n    expect: { result: x }\n', '2:5 there is no colon after this key: write `name:`'],
    ['answers:\n  START.md: x\n   FIX.md: y\nexpect: {}\n', `3:4 ${TOO_DEEP}`],
    [
      'scenarios:\n  - name: a\n    # why\n\n     expect: {}\n',
      '5:6 this is indented differently from the keys beside it: indent them alike',
    ],
    ['answers:\n  START.md: "abc\n  FIX.md: x\nexpect: {}\n', '2:13 this `"` is never closed: add its `"`'],
    [
      'answers:\n  START.md: { text: <result>{{x}}</result> }\n',
      '2:29 brackets and braces have a meaning in YAML: put quotes around the whole value',
    ],
    ['answers:\n  START.md: {a: b}}\n  FIX.md: x\n', '2:19 this bracket was never opened'],
    [
      'answers:\n  START.md: "x" y\n  FIX.md: x\n',
      '2:17 this follows the end of a value: put quotes around the whole value, and double each quote inside it',
    ],
  ])('%j', (text, problem) => {
    expect(problemsOf(text)).toStrictEqual([problem]);
  });

  test('all duplicate keys are reported', () => {
    expect(problemsOf('input: a\ninput: b\nname: c\nname: d\n')).toStrictEqual([
      '2:1 `input` is given twice: on line 1 and here; keep one of them',
      '4:1 `name` is given twice: on line 3 and here; keep one of them',
    ]);
  });
});
