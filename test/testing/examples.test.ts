/** The scenarios of the examples pass, and there is nothing in an example that none of them takes. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { allCoverageItems, CoverageCollector } from '../../src/testing/coverage.ts';
import { resultsIn } from './rig.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');

test.skipIf(process.platform === 'win32')(
  'every example has scenarios that pass and together cover all of it (not on Windows)',
  { timeout: 120_000 },
  async () => {
    const coverages = new CoverageCollector();
    const results = await resultsIn(EXAMPLES, { coverages, timeoutMs: 100_000 });
    const failed = results.filter(({ differences }) => differences.length > 0);
    expect(failed.map(({ testCase, differences }) => [testCase.file, testCase.spec.name, differences])).toStrictEqual(
      [],
    );
    const covered = await coverages.collect();
    expect(covered.map(({ workflow }) => basename(workflow.path, '.yaml'))).toStrictEqual(
      readdirSync(EXAMPLES, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .sort(),
    );
    expect(allCoverageItems(covered).filter(({ times }) => times === 0)).toStrictEqual([]);
  },
);
