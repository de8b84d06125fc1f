import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { getStatus } from '../../src/app/library.ts';
import { renderStatusReport } from '../../src/cli/reports/status-report.ts';
import { ARCHIVE_LIMITS } from '../../src/core/run/archive.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import { createColorizer } from '../../src/render/text-style.ts';
import { createFileLeases } from '../../src/storage/files/lease.ts';
import { dispatcherHistory } from '../storage/dispatcher-history.ts';
import { newCliProject } from './cli-project.ts';

const FORKS = ARCHIVE_LIMITS.kept + ARCHIVE_LIMITS.batch + 20;

const { run, events, steps } = dispatcherHistory(FORKS);

/** A completed run on disk that has archived its first workers. */
async function projectWithArchive() {
  const project = newCliProject();
  const lease = await createFileLeases(layoutOf(join(project.cwd, '.raymond')), { durable: false }).create({
    run,
    events,
  });
  await lease.append(steps);
  await lease.release();
  return {
    ...project,
    jsonOf: async (...words: readonly string[]) => JSON.parse((await project.raymond(...words, '--json')).out),
  };
}

describe('a run that has archived agents', () => {
  test('says in `status` how many there are, and shows them with --all', async () => {
    const { raymond } = await projectWithArchive();
    const { out } = await raymond('status');
    expect(out).not.toContain('= result 250\n');
    expect(out).toContain('= result 251\n');
    expect(out).toContain('… and 250 archived agents with a result: --all shows them\n');
    const all = await raymond('status', '--all');
    expect(all.out).toContain('= result 1\n');
    expect(all.out).not.toContain('…');
    expect(all.out.match(/= result/g)).toHaveLength(FORKS);
  });

  test('shows few agents on a screen, unless all are asked for', async () => {
    const { cwd } = await projectWithArchive();
    const context = { columns: 80, now: 0, colorize: createColorizer(false) };
    const report = await getStatus('run-1', cwd);
    expect(renderStatusReport(report, context).length).toBeLessThan(100);
    expect(renderStatusReport(report, context)).toContain(
      `… and ${FORKS + 1 - 30} more agents, 250 of them archived: --all shows them`,
    );
    expect(renderStatusReport(await getStatus('run-1', cwd, { all: true }), context, true).length).toBeGreaterThan(
      2 * FORKS,
    );
  });

  test('says so if a journal that was moved away has them', async () => {
    const { cwd, raymond } = await projectWithArchive();
    rmSync(layoutOf(join(cwd, '.raymond')).journalFile('run-1'));
    const { out } = await raymond('status', '--all');
    expect(out).toContain('… and 250 more agents with a result, whose steps are not in the journal any more\n');
  });

  test('has them in the document of `status` with --all, in the order of their start', async () => {
    const { jsonOf } = await projectWithArchive();
    const few = await jsonOf('status');
    expect([few.agents.length, few.archived_agents]).toStrictEqual([FORKS + 1 - 250, 250]);
    const all = await jsonOf('status', '--all');
    expect([all.agents.length, all.archived_agents]).toStrictEqual([FORKS + 1, 0]);
    expect(all.agents.map(({ id }: { id: string }) => id)).toStrictEqual([
      'main',
      ...Array.from({ length: FORKS }, (_, index) => `main_work${index + 1}`),
    ]);
    expect(all.agents[1]).toMatchObject({
      label: 'main_work1 item=i1',
      parent: 'main',
      status: 'ended',
      state: 'WORK.sh',
      result: 'result 1',
      turns: 1,
      turns_ms: 5,
    });
  });

  test('counts them in `list`', async () => {
    const { jsonOf } = await projectWithArchive();
    expect((await jsonOf('list')).runs[0].agent_counts).toStrictEqual({ live: 0, ended: FORKS + 1, failed: 0 });
  });

  test('has the log of each', async () => {
    const { raymond } = await projectWithArchive();
    const { code, out } = await raymond('logs', '--agent', 'main_work7');
    expect([code, out.includes('main_work7')]).toStrictEqual([0, true]);
    const { code: unknown, err } = await raymond('logs', '--agent', 'main_wokr7');
    expect([unknown, err]).toStrictEqual([64, expect.stringContaining('there is no agent main_wokr7')]);
  });

  test('says at its end where their results are', async () => {
    const { raymond, jsonOf } = await projectWithArchive();
    const { out, err } = await raymond('resume', 'run-1', '--quiet');
    expect(out).not.toContain('result 250\n');
    expect(out).toContain('[main_work251 item=i251]\nresult 251\n');
    expect(err).toBe('Results of 250 archived agents: raymond status run-1 --all\n');
    const document = await jsonOf('resume', 'run-1', '--quiet');
    expect(Object.keys(document.results)).toHaveLength(FORKS + 1 - 250);
    expect([document.agents.length, document.archived_agents]).toStrictEqual([FORKS + 1 - 250, 250]);
  });
});
