import { describe, expect, test } from 'vitest';
import { addBashSyntaxErrors } from '../../src/app/workflows/lint-workflow.ts';
import { lintSource } from '../../src/lint/lint.ts';
import { RULES } from '../../src/lint/rules/index.ts';
import { readRuleExamples } from './docs.ts';
import { type Files, sourceOf } from './source-of.ts';

const RULE_EXAMPLES = readRuleExamples();

/** What a slip does not allow is found too. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  'unknown-rule': ['endless-loop'],
};

const findIn = async (files: Files) => lintSource(await addBashSyntaxErrors(sourceOf(files)));

/** Findings as the page shows them. */
const formatFindings = async (files: Files): Promise<string> =>
  (await findIn(files))
    .map(({ file, line, column, level, rule, message, hint }) => {
      return `${line === 0 ? file : `${file}:${line}:${column}`}: ${level}: ${message} (${rule})\n  ${hint}`;
    })
    .join('\n');

test('docs/lint.md explains every rule once, with its level', () => {
  const stated = RULE_EXAMPLES.map(({ rule, level }) => [rule, level]).sort();
  expect(stated).toStrictEqual(RULES.map(({ id, level }) => [id, level]).sort());
});

describe.each(RULE_EXAMPLES)('docs/lint.md, $rule', ({ rule, bad, findings, good }) => {
  test('only this rule reports the mistake', async () => {
    const rules = new Set((await findIn(bad)).map((finding) => finding.rule));
    expect([...rules].sort()).toStrictEqual([rule, ...(COMPANIONS[rule] ?? [])].sort());
  });

  test('the findings are those on the page', async () => {
    expect(await formatFindings(bad)).toBe(findings);
  });

  test('the better version has no findings', async () => {
    expect(await formatFindings(good)).toBe('');
  });
});
