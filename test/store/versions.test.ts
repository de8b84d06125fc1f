import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RUN_VERSION } from '../../src/core/run.ts';
import { listRuns } from '../../src/runtime/list-runs.ts';
import { writeLogs } from '../../src/runtime/logs.ts';
import { resumeRun } from '../../src/runtime/resume.ts';
import { readRunEvents } from '../../src/runtime/run-files.ts';
import { addStateChecksum } from '../../src/store/checksum.ts';
import { layoutOf } from '../../src/store/layout.ts';
import { loadRun } from '../../src/store/load.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { resealLine } from './reseal.ts';
import { temporaryFolders } from './temp.ts';

/*
 * For each version that has landed: a run that its Raymond began, on disk as if it had been killed when the run had ended for
 * want of money. The state file is the first one, so that every line of the journal counts.
 */

const SAMPLES = join(import.meta.dirname, 'fixtures', 'versions');
const versions = readdirSync(SAMPLES).sort();
const temporary = temporaryFolders();

/** A project with the run of that version in it. */
function projectWith(version: string): string {
  const project = join(temporary(), 'project');
  cpSync(join(SAMPLES, version), project, { recursive: true });
  mkdirSync(join(project, 'sub'));
  cpSync(join(project, 'raymond'), join(project, '.raymond'), { recursive: true });
  const { stateFile, journalFile } = layoutOf(join(project, '.raymond'));
  const hasChecksums = version !== '1';
  const moved = (file: string): string => readFileSync(file, 'utf8').replaceAll('/project', project);
  const lines = moved(journalFile('sample'))
    .split('\n')
    .map((line) => (hasChecksums && line !== '' ? resealLine(line) : line));
  writeFileSync(journalFile('sample'), lines.join('\n'));
  const { checksum: _, ...state } = JSON.parse(moved(stateFile('sample')));
  const journal = { ...state.journal, offset: Buffer.byteLength(lines[0] ?? '') + 1 };
  const text = JSON.stringify({ ...state, journal }, null, 2);
  writeFileSync(stateFile('sample'), hasChecksums ? addStateChecksum(text) : text);
  return project;
}

test('every supported version has a sample, and the latest is the current one', () => {
  expect(versions).toStrictEqual([...MIGRATIONS.keys()].map(String).sort());
  expect(Math.max(...versions.map(Number))).toBe(RUN_VERSION);
});

describe.each(versions)('a run of version %s', (version) => {
  test('loads with everything in its journal', async () => {
    const layout = layoutOf(join(projectWith(version), '.raymond'));
    const { run } = await loadRun(layout, 'sample', { cut: false });
    const lines = readFileSync(layout.journalFile('sample'), 'utf8').trimEnd().split('\n');
    expect(run).toMatchObject({ version: RUN_VERSION, seq: lines.length - 1, status: 'budget_exceeded' });
    expect(run.agents.map(({ id, phase }) => [id, phase.kind])).toStrictEqual([
      ['main', 'withheld'],
      ['main_work1', 'withheld'],
      ['main_work2', 'withheld'],
    ]);
  });

  test('is listed, and its log is printed', async () => {
    const cwd = projectWith(version);
    expect(await listRuns(cwd)).toMatchObject([{ id: 'sample', observedStatus: 'budget_exceeded' }]);
    const lines: string[] = [];
    await writeLogs('sample', { cwd, write: (line) => lines.push(line), writeMessage: (text) => lines.push(text) });
    expect(lines.join('\n')).toContain('REVIEW.md → LAST.md (fork) $0.02');
    expect(lines.join('\n')).toContain('Review this: 64 MiB');
  });

  test('has only complete events', async () => {
    const events = await readRunEvents('sample', projectWith(version));
    expect(events.filter((event) => event.kind === 'transition' && !Array.isArray(event.tags))).toStrictEqual([]);
    expect(events.filter(({ kind }) => kind === 'transition')).toHaveLength(3);
  });

  test('can be resumed', async () => {
    const cwd = projectWith(version);
    const run = await (await resumeRun('sample', { cwd, options: { budgetMicros: 1_000_000 } })).finished;
    expect(run.status).toBe('completed');
    expect(run.agents.map(({ phase }) => phase.kind === 'ended' && phase.result)).toStrictEqual([
      'Goodbye.',
      'first in project',
      'second in sub',
    ]);
  });
});
