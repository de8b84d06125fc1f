import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/build.ts';
import { lintSource } from '../../src/lint/lint.ts';
import { readWorkflowSource } from '../../src/workflow/workflow-source.ts';
import { anyText } from '../core/builders.ts';
import { exampleOf, filesShown } from '../docs/example.ts';
import { readPage } from '../docs/page.ts';
import { sourceOf } from './source-of.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** That there is only one way on is no fault; everything else would be a false alarm. */
const findingsOf = (source: Parameters<typeof lintSource>[0]): readonly string[] =>
  lintSource(source)
    .filter(({ rule }) => rule !== 'implicit-transition')
    .map(({ rule, file, line }) => `${rule} ${file}:${line}`);

describe('there are no findings in', () => {
  const folders = readdirSync(join(ROOT, 'examples'), { withFileTypes: true });
  const examples = folders.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));

  test.each(examples.map(({ name }) => name))('examples/%s', async (name) => {
    const circumstances = { platform: 'unix', resetStack: 'keep', variables: [] } as const;
    const oneFile = join(ROOT, 'examples', name, `${name}.yaml`);
    const path = existsSync(oneFile) ? oneFile : join(ROOT, 'examples', name);
    const { source } = await readWorkflowSource(path, circumstances);
    expect(findingsOf(source)).toStrictEqual([]);
  });

  const sections = readPage(readFileSync(join(ROOT, 'docs', 'authoring.md'), 'utf8'));
  const workflows = sections.filter((section) => {
    const findings = section.blocks.some(({ kind }) => kind === 'findings');
    return filesShown(section).length > 0 && !findings;
  });

  test('every workflow of docs/authoring.md, which has some', () => {
    expect(workflows.length).toBeGreaterThan(5);
  });

  test.each(workflows.map((section) => [section.title, section] as const))('docs/authoring.md, %s', (_, section) => {
    expect(findingsOf(sourceOf(exampleOf(section).files))).toStrictEqual([]);
  });
});

test('any workflow can be checked and drawn, always with the same result', () => {
  const name = fc.constantFrom(
    'START.md',
    '1_START.md',
    'A.md',
    'A.sh',
    'B.sh',
    'C.bat',
    'D.ps1',
    'N.md',
    'README.md',
    'notes.txt',
  );
  const workflow = fc.dictionary(
    name,
    fc.oneof(
      anyText,
      anyText.map((text) => `---\n${text}\n---\n${text}`),
    ),
  );
  fc.assert(
    fc.property(workflow, fc.constantFrom('unix', 'windows'), (files, platform) => {
      const source = sourceOf(files, { platform });
      expect(lintSource(source)).toStrictEqual(lintSource(source));
      expect(buildGraph(source)).toStrictEqual(buildGraph(source));
    }),
    { numRuns: 100 },
  );
});
