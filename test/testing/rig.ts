import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CoverageCollector } from '../../src/testing/coverage.ts';
import type { DifferenceDetail } from '../../src/testing/difference.ts';
import { findScenarioFiles } from '../../src/testing/find-scenario-files.ts';
import { runTests, type TestOptions, type TestResult } from '../../src/testing/run-tests.ts';
import { readTestSuite } from '../../src/testing/suite.ts';

/** Creates a folder with these files; it is removed after the test. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-testing-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export const REQUEST: TestOptions = {
  env: { ...process.env },
  timeoutMs: 20_000,
  keep: false,
  abortSignal: new AbortController().signal,
};

/** Runs all scenarios of a folder, and throws if a file is invalid. */
export async function resultsIn(folder: string, request: Partial<TestOptions> = {}): Promise<readonly TestResult[]> {
  const { testCases, unusable } = await readTestSuite(findScenarioFiles(['.'], folder).files, folder);
  for (const { error } of unusable) throw error;
  const results: TestResult[] = [];
  for await (const result of runTests(testCases, { ...REQUEST, ...request })) {
    results.push(result);
    const { folder: kept } = result;
    if (kept !== null) onTestFinished(() => rmSync(dirname(kept), { recursive: true, force: true, maxRetries: 5 }));
  }
  return results;
}

/** The differences of the only scenario of a workflow, one per line. */
export async function wrongWith(
  states: Readonly<Record<string, string>>,
  scenario: string,
  request: Partial<TestOptions> = {},
): Promise<readonly string[]> {
  const [result] = await resultsIn(folderWith({ ...states, 'a.test.yaml': scenario }), request);
  return (
    result?.differences.map(({ file, line, column, what, detail }) => {
      const place = file === undefined || file === 'a.test.yaml' ? '' : `${file}:`;
      return `${place}${line}:${column} ${what}: ${inWords(detail)}`;
    }) ?? []
  );
}

/** The warnings of the only scenario of a workflow, which must pass. */
export async function warnedBy(
  states: Readonly<Record<string, string>>,
  scenario: string,
  request: Partial<TestOptions> = {},
): Promise<readonly string[]> {
  const [result] = await resultsIn(folderWith({ ...states, 'a.test.yaml': scenario }), request);
  if (result === undefined || result.differences.length > 0) throw new Error('it did not go as expected');
  return result.warnings;
}

function inWords(detail: DifferenceDetail): string {
  switch (detail.kind) {
    case 'problem':
      return detail.message;
    case 'parts':
      return `${detail.matcher} ${detail.part}, not ${JSON.stringify(detail.actual)}`;
    default:
      return `${JSON.stringify(detail.expected)}, not ${JSON.stringify(detail.actual)}`;
  }
}

/** The coverage of a workflow by the scenarios of its folder. */
export async function coverageIn(folder: string) {
  const coverages = new CoverageCollector();
  await resultsIn(folder, { coverages });
  const [coverage] = await coverages.collect();
  if (coverage === undefined) throw new Error('nothing was played');
  return coverage;
}
