import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Run } from '../../../src/core/run/run.ts';
import { layoutOf } from '../../../src/disk/layout.ts';
import { loadRun } from '../../../src/storage/files/load.ts';
import { ownerOf } from '../../../src/storage/files/owner.ts';
import { readEvents } from '../read-events.ts';
import { temporaryFolders } from '../temp.ts';
import { compileInto, type Program, startProgram } from './processes.ts';

const temporary = temporaryFolders();
const compiled = mkdtempSync(join(tmpdir(), 'raymond-compiled-'));
beforeAll(() => compileInto(compiled));
afterAll(() => rmSync(compiled, { recursive: true, force: true, maxRetries: 5 }));

vi.setConfig({ testTimeout: 120_000 });
afterAll(() => vi.resetConfig());

const DRIVER = join(import.meta.dirname, 'fixtures/driver.mjs');

/** The run of the driver at each of these steps, computed without a disk. */
function runsAt(seqs: readonly number[]): Run[] {
  const args = [DRIVER, compiled, '-', 'tell', JSON.stringify(seqs)];
  return JSON.parse(String(spawnSync(process.execPath, args, { maxBuffer: 1e9 }).stdout));
}

describe('a run whose process is killed', () => {
  test('has every step that was reported as saved, and no partial one, every time', async () => {
    const layout = layoutOf(join(temporary(), '.raymond'));
    const found: Run[] = [];
    let safe = 0;
    for (const [round, saves] of [40, 1, 100, 0, 7].entries()) {
      const program = startProgram('driver.mjs', compiled, layout.root, round === 0 ? 'create' : 'resume');
      for (let seen = 0; seen < saves; seen++) safe = Number(await program.line());
      const unread = await program.kill();
      safe = Number(unread.at(-1) ?? safe);
      expect((await ownerOf(layout.runFolder('run-1')))?.state).not.toBe('alive');
      const { run } = await loadRun(layout, 'run-1', { cut: false });
      expect(run.seq).toBeGreaterThanOrEqual(safe);
      found.push(run);
    }
    expect(found).toStrictEqual(runsAt(found.map(({ seq }) => seq)));
    let last = 0;
    for await (const { seq } of readEvents(layout, 'run-1')) {
      expect(seq === last || seq === last + 1).toBe(true);
      last = seq;
    }
    expect(last).toBeGreaterThanOrEqual(safe);
  });

  test.each(['keeps writing', 'was stopped meanwhile'])('is taken over from an owner that %s', async (how) => {
    const layout = layoutOf(join(temporary(), '.raymond'));
    const old = startProgram('driver.mjs', compiled, layout.root, 'create-far');
    for (let seen = 0; seen < 20; seen++) await old.line();
    const signalOld = (name: NodeJS.Signals): void => void process.kill(old.pid ?? 0, name);
    if (how === 'was stopped meanwhile') signalOld('SIGSTOP');
    const taker = startProgram('driver.mjs', compiled, layout.root, 'take-over');
    for (let seen = 0; seen < 20; seen++) await taker.line();
    if (how === 'was stopped meanwhile') signalOld('SIGCONT');
    let last: string | undefined;
    for (let line = await old.line(); line !== undefined; line = await old.line()) last = line;
    expect(last).toBe('RaymondError: Run run-1 is no longer owned by this process: another one has taken it over.');
    for (let seen = 0; seen < 20; seen++) await taker.line();
    const safe = Number((await taker.kill()).at(-1) ?? 0);
    const { run } = await loadRun(layout, 'run-1', { cut: false });
    expect(run.seq).toBeGreaterThanOrEqual(safe);
    expect([run]).toStrictEqual(runsAt([run.seq]));
  });

  test('exits without closing its run, without a timer that keeps it alive', () => {
    const root = join(temporary(), '.raymond');
    const { status, stdout } = spawnSync(process.execPath, [DRIVER, compiled, root, 'create', '3'], {
      timeout: 20_000,
    });
    expect([status, String(stdout)]).toStrictEqual([0, '2\n4\n6\n']);
  });
});

test('many processes that take a dead run at once: exactly one gets it, each time its owner is killed', async () => {
  const folder = temporary();
  let takers: Program[] = Array.from({ length: 6 }, () => startProgram('taker.mjs', compiled, folder));
  try {
    for (const taker of takers) expect(await taker.line()).toBe('ready');
    for (let round = 1; takers.length > 1; round++) {
      for (const taker of takers) taker.tell('go');
      const said = await Promise.all(takers.map((taker) => taker.line()));
      const winner = takers[said.findIndex((line) => line?.startsWith('won'))];
      const lost = `RaymondError: The run ${folder.split('/').at(-1)} is driven by process ${winner?.pid}, which is alive.`;
      expect([...said].sort()).toStrictEqual([...Array(takers.length - 1).fill(lost), `won ${round}`]);
      expect(readdirSync(folder)).toStrictEqual([`owner.${round}`]);
      await winner?.kill();
      takers = takers.filter((taker) => taker !== winner);
    }
  } finally {
    for (const taker of takers) await taker.kill();
  }
});
