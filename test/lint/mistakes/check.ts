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
    });
  }
}

/** A prompt with a policy of these entries, written as in YAML. */
export const policy = (entries: readonly string[], text: string): string =>
  `---\nallowed_transitions:\n${entries.map((entry) => `  - { ${entry} }\n`).join('')}---\n${text}\n`;

export const bash = (...lines: string[]): string => ['#!/bin/bash', ...lines, ''].join('\n');

/** States without findings. */
export const END = 'When all is done, answer with <result>done</result>.\n';
export const SCRIPT = bash('echo "<result>done</result>"');
