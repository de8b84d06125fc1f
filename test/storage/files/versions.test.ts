import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listRuns } from '../../../src/app/library.ts';
import { writeLogs } from '../../../src/app/logs.ts';
import { resumeRun } from '../../../src/app/resume.ts';
import { readRunEvents } from '../../../src/app/run-files.ts';
import { RUN_VERSION } from '../../../src/core/run/run.ts';
import { type FolderLayout, layoutOf } from '../../../src/disk/layout.ts';
import { loadRun } from '../../../src/storage/files/load.ts';
import { addStateChecksum, MIGRATIONS } from '../../../src/storage/run-file.ts';
import { resealLine } from '../reseal.ts';
import { temporaryFolders } from '../temp.ts';
import { storageIn } from './open-files.ts';

/*
 * For each version that has landed: a run that its Raymond began, on disk as if it had been killed when the run had ended for
 * want of money. The state file is the first one, so that every line of the journal counts.
 */

const SAMPLES = join(import.meta.dirname, 'fixtures', 'versions');
const versions = readdirSync(SAMPLES).sort();
/** Runs of these versions whose processes were killed in the middle of something. */
const INTERRUPTED = join(import.meta.dirname, 'fixtures', 'interrupted');
const temporary = temporaryFolders();

/** A project with the runs of a version in it. */
function projectWith(version: string, samples = SAMPLES): string {
  const project = join(temporary(), 'project');
  cpSync(join(samples, version), project, { recursive: true });
  mkdirSync(join(project, 'sub'));
  cpSync(join(project, 'raymond'), join(project, '.raymond'), { recursive: true });
  const layout = layoutOf(join(project, '.raymond'));
  for (const run of readdirSync(layout.runsFolder)) moveRun(layout, run, project, version !== '1');
  return project;
}

/** Gives a sample the paths of its project: its lines have other lengths and checksums then. */
function moveRun({ stateFile, journalFile }: FolderLayout, run: string, project: string, hasChecksums: boolean): void {
  const moved = (file: string): string => readFileSync(file, 'utf8').replaceAll('/project', project);
  const lines = moved(journalFile(run))
    .split('\n')
    .map((line) => (hasChecksums && line !== '' ? resealLine(line) : line));
  writeFileSync(journalFile(run), lines.join('\n'));
  const { checksum: _, ...state } = JSON.parse(moved(stateFile(run)));
  const covered = lines.slice(0, state.seq + 1).map((line) => `${line}\n`);
  const journal = { ...state.journal, offset: Buffer.byteLength(covered.join('')) };
  const text = JSON.stringify({ ...state, journal }, null, 2);
  writeFileSync(stateFile(run), hasChecksums ? addStateChecksum(text) : text);
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
    await writeLogs('sample', {
      cwd,
      storage: storageIn(cwd),
      write: (line) => lines.push(line),
      writeMessage: (text) => lines.push(text),
    });
    expect(lines.join('\n')).toContain('REVIEW.md → LAST.md (fork) $0.02');
    expect(lines.join('\n')).toContain('Review this: 64 MiB');
  });

  test('has only complete events', async () => {
    const events = await readRunEvents('sample', storageIn(projectWith(version)));
    expect(events.filter((event) => event.kind === 'transition' && !Array.isArray(event.tags))).toStrictEqual([]);
    expect(events.filter(({ kind }) => kind === 'transition')).toHaveLength(3);
  });

  test('can be resumed', async () => {
    const cwd = projectWith(version);
    const run = await (await resumeRun('sample', { cwd, options: { budgetMicros: 1_000_000 } })).finished;
    expect(run.status).toBe('completed');
    // It had no pinned code; the resume has pinned it.
    expect(Object.keys(run.code?.workflows ?? {})).toStrictEqual(['', '//claude']);
    expect(run.agents.map(({ phase }) => phase.kind === 'ended' && phase.result)).toStrictEqual([
      'Goodbye.',
      'first in project',
      'second in sub',
    ]);
  });
});

describe.each(readdirSync(INTERRUPTED))('runs of version %s that were killed', (version) => {
  test('continue after a turn of which nothing tells how far it came', async () => {
    const cwd = projectWith(version, INTERRUPTED);
    writeFileSync(join(cwd, 'open'), '');
    const paused = await (await resumeRun('crashed', { cwd })).finished;
    expect(paused).toMatchObject({ status: 'paused', agents: [{ phase: { kind: 'paused' } }] });
    const run = await (await resumeRun('crashed', { cwd, retry: true })).finished;
    expect(run).toMatchObject({ status: 'completed', agents: [{ phase: { kind: 'ended', result: 'through' } }] });
  });

  test('continue with the answer to their question', async () => {
    const cwd = projectWith(version, INTERRUPTED);
    const running = await resumeRun('asking', { cwd, attended: true });
    expect(running.initial.agents).toMatchObject([{ phase: { kind: 'asking', ask: 'main-1' } }]);
    await expect.poll(() => running.answer('main-1', 'this')).toBe(true);
    const run = await running.finished;
    expect(run).toMatchObject({ status: 'completed', agents: [{ phase: { kind: 'ended', result: 'got this' } }] });
    const asked = (await readRunEvents('asking', storageIn(cwd))).filter(({ kind }) => kind === 'asked');
    expect(asked).toMatchObject([{ question: { choices: null } }]);
  });

  test('deliver a message that was on record', async () => {
    const cwd = projectWith(version, INTERRUPTED);
    const { run: loaded } = await loadRun(layoutOf(join(cwd, '.raymond')), 'told', { cut: false });
    expect(loaded.agents).toMatchObject([
      { tagRequired: false, node: null, messages: [{ text: 'Be brief', turn: null, delivered: false }] },
    ]);
    writeFileSync(join(cwd, 'told-open'), '');
    await (await resumeRun('told', { cwd })).finished;
    const run = await (await resumeRun('told', { cwd, retry: true })).finished;
    expect(run).toMatchObject({ status: 'completed', agents: [{ messages: [] }] });
    const delivered = (await readRunEvents('told', storageIn(cwd))).filter(({ kind }) => kind === 'said_delivered');
    expect(delivered).toHaveLength(1);
  });
});
