import { expect, test } from 'vitest';
import type { WorkflowSource } from '../../../src/graph/workflow-source.ts';
import { lintSource } from '../../../src/lint/lint.ts';
import { type Files, sourceOf } from '../source-of.ts';

/** A small workflow and all its findings, as `rule file:line:column`. */
export type Case = readonly [
  title: string,
  files: Files,
  findings: readonly string[],
  changes?: Partial<WorkflowSource>,
];

/** Checks that lint reports exactly these findings. */
export function check(cases: readonly Case[]): void {
  for (const [title, files, findings, changes] of cases) {
    test(title, () => {
      const found = lintSource(sourceOf(files, changes)).map(
        ({ rule, file, line, column }) => `${rule} ${file}:${line}:${column}`,
      );
      expect(found).toStrictEqual(findings);
      expect(findWhenCalled(files, changes)).toStrictEqual(findings.filter(isAboutStates).sort());
    });
  }
}

/** What lint finds in the states of a workflow if another one calls it: the same, but for what only holds of a whole. */
function findWhenCalled(files: Files, changes: Partial<WorkflowSource> = {}): readonly string[] {
  const called = Object.fromEntries(Object.entries(files).map(([name, text]) => [`lib/${name}`, text]));
  const isAlone = changes.entry !== undefined || Object.keys(files).some((name) => name.includes('/'));
  const caller = {
    'START.md': 'Answer with <call-workflow return="BACK" input="x">../lib</call-workflow>.',
    'BACK.md': END,
  };
  return lintSource(sourceOf(isAlone ? files : { ...caller, ...called }, changes))
    .map(({ rule, file, line, column }) => `${rule} ${isAlone ? file : file.replace('lib/', '')}:${line}:${column}`)
    .filter(isAboutStates)
    .sort();
}

/** Those of beginnings, ends and loops are about a workflow as a whole. */
const isAboutStates = (finding: string): boolean =>
  !/^(?:missing-entry|ambiguous-entry|missing-workflow|unreachable-state|never-returns|endless-|ends-only|fork-bomb|no-way-out)/.test(
    finding,
  );

/** A prompt with a policy of these entries, written as in YAML. */
export const policy = (entries: readonly string[], text: string): string =>
  `---\nallowed_transitions:\n${entries.map((entry) => `  - { ${entry} }\n`).join('')}---\n${text}\n`;

export const bash = (...lines: string[]): string => ['#!/bin/bash', ...lines, ''].join('\n');

/** States without findings. */
export const END = 'When all is done, answer with <result>done</result>.\n';
export const SCRIPT = bash('echo "<result>done</result>"');
