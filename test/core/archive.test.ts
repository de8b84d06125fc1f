import { describe, expect, test } from 'vitest';
import { ARCHIVE_LIMITS, archivedCount } from '../../src/core/run/archive.ts';
import { withChange } from '../../src/core/run/change.ts';
import type { Answered, Began } from '../../src/core/signals/signal.ts';
import { step } from '../../src/core/step.ts';
import { TurnScheduler } from '../../src/core/turns/turn-scheduler.ts';
import { serializeRun } from '../../src/storage/run-schema.ts';
import { RunDriver, startRun } from './run-driver.ts';

/** Answers forever: the first state forks, and each worker does what `answers` says. */
class Dispatcher {
  run = startRun({ files: ['DISPATCH.sh'] });
  readonly names = new Set(['main']);
  readonly longestLine = { archiving: 0, other: 0 };
  private readonly answers: Readonly<Record<string, string>>;
  private readonly scope;
  private readonly scheduler = new TurnScheduler(this.run);

  constructor(forks: string, answers: Readonly<Record<string, string>>) {
    this.answers = { 'DISPATCH.sh': forks, ...answers };
    this.scope = { files: Object.keys(this.answers), platform: 'unix' } as const;
  }

  /** Continues until that many workers have been started. */
  forkUntil(count: number): this {
    const { scope } = this;
    while (this.names.size <= count) {
      for (const turn of this.scheduler.due()) {
        if (turn.kind === 'sleep' || turn.kind === 'workspace') continue;
        const { agent, state } = turn;
        const rules = { policy: [], maxVisits: null };
        this.apply({ kind: 'began', at: 1, agent, sessionId: 's', rules, warnings: [] });
        const text = this.answers[state] ?? '';
        this.apply({ kind: 'answered', at: 2, agent, cost: null, denials: [], folders: {}, scope, text });
      }
    }
    return this;
  }

  get stateFileSize(): number {
    return serializeRun(this.run).length;
  }

  private apply(signal: Began | Answered): void {
    const applied = withChange(this.run, step(this.run, signal));
    const { step: next, change } = applied;
    for (const event of next.events) {
      if (event.kind !== 'agent_started') continue;
      if (this.names.has(event.agent)) throw new Error(`the name ${event.agent} is given twice`);
      this.names.add(event.agent);
    }
    const isArchiving = next.run.archive !== this.run.archive;
    if (isArchiving || next.run.seq % 64 < 3) {
      const kind = isArchiving ? 'archiving' : 'other';
      const { length } = JSON.stringify(change);
      this.longestLine[kind] = Math.max(this.longestLine[kind], length);
    }
    this.run = next.run;
    this.scheduler.update(signal, applied);
  }
}

const forks = (count: number, state: string): string => `<fork next="DISPATCH" item="x">${state}</fork>`.repeat(count);

describe('a dispatcher that forks forever', () => {
  test('has a state file and journal lines that do not grow, over 100,000 forks', { timeout: 180_000 }, () => {
    const dispatcher = new Dispatcher(forks(20, 'WORKER'), { 'WORKER.sh': '<result>done</result>' });
    const { stateFileSize: sizeBefore } = dispatcher.forkUntil(10_000);
    const { archiving, other } = dispatcher.longestLine;
    const { run, stateFileSize, longestLine, names } = dispatcher.forkUntil(100_000);
    expect(archivedCount(run) + run.agents.length).toBe(names.size);
    expect(run.agents.length).toBeLessThan(ARCHIVE_LIMITS.kept + ARCHIVE_LIMITS.batch + 50);
    // Only numbers get longer.
    expect(stateFileSize).toBeLessThan(1.03 * sizeBefore);
    expect(longestLine.archiving).toBeLessThan(1.1 * archiving);
    expect(longestLine.other).toBeLessThan(1.1 * other);
  });

  test.each([
    ['end in a digit', forks(10, 'STEP1') + forks(10, 'STEP2'), {}],
    ['look like a worker of another one', forks(20, 'A1_B') + forks(1, 'A'), {}],
    ['fork themselves', forks(10, 'STEP1'), { 'STEP1.sh': '<fork next="A">A1_B</fork>' }],
  ])('stays small, too, if the names of its workers %s', (_, answer, answers) => {
    const result = '<result>done</result>';
    const workers = { 'A.sh': result, 'A1_B.sh': result, 'STEP1.sh': result, 'STEP2.sh': result, ...answers };
    const dispatcher = new Dispatcher(answer, workers);
    const { stateFileSize: sizeBefore } = dispatcher.forkUntil(5_000);
    expect(dispatcher.forkUntil(10_000).stateFileSize).toBeLessThan(1.1 * sizeBefore);
  });
});

describe('an ended agent is archived', () => {
  const LIMITS = { kept: 2, batch: 2 };
  const files = ['START.sh', 'W.sh', 'END.sh'];

  /** A run with ten workers, of which these have ended, in that order. */
  function runWith(ended: readonly number[], limits = LIMITS) {
    const driver = new RunDriver({ files }, {}, null, limits);
    driver.answer(`${'<fork>W</fork>'.repeat(10)}<goto>END</goto>`);
    for (const number of ended) driver.runTurn(`main_w${number}`, `<result>${number}</result>`);
    return driver;
  }

  const workersOf = ({ run }: RunDriver) => run.agents.slice(1).map(({ id }) => Number(id.slice('main_w'.length)));

  test('only if the run has had more than a thousand', () => {
    const { run } = runWith([1, 2, 3, 4, 5, 6, 7, 8, 9], ARCHIVE_LIMITS);
    expect([run.archive, run.agents.length]).toStrictEqual([null, 11]);
  });

  test('in batches, those first that were started first', () => {
    expect(workersOf(runWith([1, 2, 4]))).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const driver = runWith([1, 2, 4, 5]);
    expect([driver.run.archive, workersOf(driver)]).toStrictEqual([{ ended: 2 }, [3, 4, 5, 6, 7, 8, 9, 10]]);
    expect(workersOf(driver.runTurn('main_w6', '<result>6</result>'))).toStrictEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    driver.runTurn('main_w7', '<result>7</result>');
    expect([driver.run.archive, workersOf(driver)]).toStrictEqual([{ ended: 4 }, [3, 6, 7, 8, 9, 10]]);
  });

  test('not in the step of its end', () => {
    expect(workersOf(runWith([10, 9, 8, 1]))).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 10]);
  });

  test('but never one that failed, or `main`', () => {
    const driver = runWith([2, 3]);
    driver.runTurn('main_w1', 'no tag').answer('<result>over</result>');
    for (const number of [4, 5, 6, 7, 8, 9, 10]) driver.runTurn(`main_w${number}`, '<result></result>');
    expect(driver.run.status).toBe('failed');
    expect(driver.run.agents.map(({ id }) => id)).toStrictEqual(['main', 'main_w1', 'main_w10']);
    expect(driver.run.archive).toStrictEqual({ ended: 8 });
  });
});
