import { describe, expect, test } from 'vitest';
import type { Event } from '../../../src/core/run/event.ts';
import { usdToMicros } from '../../../src/core/run/ledger.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { describeUnfinished, formatResumeCommand } from '../../../src/render/next-steps.ts';
import { RunTally } from '../../../src/render/run-tally.ts';
import { renderRunEnd, renderSummary, type SummaryOptions } from '../../../src/render/terminal/summary.ts';
import { widthOf } from '../../../src/render/text-width.ts';
import { RunDriver, usd } from '../../core/run-driver.ts';

const FILES = { files: ['START.md', 'BUILD.md', 'CHECK.sh'] };
const NOON = new Date(2026, 0, 15, 12, 0, 0).getTime();
const PAGE: SummaryOptions = {
  columns: null,
  color: false,
  now: NOON,
  otherFolder: null,
  debugFolder: null,
  warnings: { list: [], leftOut: 0 },
  alreadyReported: new Set(),
  worktrees: [],
};

function tallyOf(events: readonly Event[]): RunTally {
  const tally = new RunTally();
  for (const event of events) tally.count(event);
  return tally;
}

const summary = ({ run, events }: RunDriver, page: Partial<SummaryOptions> = {}): string =>
  renderSummary(run, tallyOf(events), { ...PAGE, ...page });

describe('a summary', () => {
  const coding = () =>
    new RunDriver(FILES).answer(
      { text: '<goto>BUILD</goto>', cost: usd(0.5) },
      { text: 'no tag', cost: usd(1) },
      { text: '<goto>CHECK</goto>', cost: usd(0.25) },
      '<goto>BUILD</goto>',
      { text: '<goto>CHECK</goto>', cost: usd(0.25) },
      '<result>r</result>',
    );

  test('has the visits, time and cost of each state', () => {
    expect(summary(coding(), { debugFolder: '.raymond/debug/run-1' })).toBe(`\
Completed in 0.1s: 6 turns, $2.00 of $10.00.
            visits  turns  time   cost
  START.md       1      1  0.0s  $0.50
  BUILD.md       2      3  0.0s  $1.50
  CHECK.sh       2      2  0.0s
Debug files: .raymond/debug/run-1
`);
  });

  test('is short for a short run', () => {
    expect(summary(new RunDriver({ files: ['START.sh'] }).answer('<result>r</result>'))).toBe(
      'Completed in 0.0s: 1 turn, $0.00.\n',
    );
  });

  test('is readable in 40 columns', () => {
    const long = 'A_STATE_WITH_QUITE_A_LONG_NAME.md';
    const driver = new RunDriver({ files: ['START.md', long] });
    driver.answer({ text: `<goto>${long}</goto>`, cost: usd(2) }, { text: '?', cost: usd(3) }, '<result>r</result>');
    const lines = summary(driver, { columns: 40 }).split('\n');
    expect(Math.max(...lines.map(widthOf))).toBeLessThan(40);
    expect(lines).toContain('  A_STATE_…       1      2  0.0s  $3.00');
  });

  test('omits rows without time if there are very many states', () => {
    const files = Array.from({ length: 20 }, (_, index) => `S${index}.sh`);
    const driver = new RunDriver({ files });
    driver.answer(...files.slice(1).map((file) => `<goto>${file}</goto>`), '<result>r</result>');
    const lines = summary(driver).trim().split('\n');
    expect(lines).toHaveLength(1 + 1 + 15 + 1);
    expect(lines.at(-1)).toBe('  … 5 more states');
  });

  test('counts across resumes', () => {
    const driver = new RunDriver(FILES, { maxIterations: 1 }).answer({ text: '<goto>BUILD</goto>', cost: usd(1) });
    driver.begin('main');
    driver.resume({ maxIterations: 9 }).answer({ text: '<result>r</result>', cost: usd(1) });
    expect(tallyOf(driver.events).states.map(({ state, turns }) => [state, turns])).toStrictEqual([
      ['START.md', 1],
      ['BUILD.md', 1],
    ]);
  });

  test('has colors if they are enabled', () => {
    const driver = new RunDriver({ files: ['START.sh'] }).answer('?');
    expect(renderSummary(driver.run, tallyOf(driver.events), { ...PAGE, color: true })).toContain(
      '\u001b[31mFailed after',
    );
  });
});

describe('a run that did not complete', () => {
  test.each<[string, () => RunDriver, string[]]>([
    [
      'its budget is used up',
      () =>
        new RunDriver(FILES, { budgetMicros: usdToMicros(5) }).answer({ text: '<result>r</result>', cost: usd(5.12) }),
      ['The budget of $5.00 is used up: $5.12 spent.', 'To continue: raymond resume run-1 --budget 10'],
    ],
    [
      'the limit of iterations is reached',
      () => {
        const driver = new RunDriver(FILES, { maxIterations: 3 });
        driver.answer('<goto>BUILD</goto>', '<goto>BUILD</goto>', '<goto>BUILD</goto>').begin('main');
        return driver;
      },
      ['The limit of 3 iterations is reached.', 'To continue: raymond resume run-1 --max-iterations 6'],
    ],
    [
      'a script failed, whose last words are left out',
      () => {
        const fail = { kind: 'script', message: 'it ended with exit code 2\nlast words' } as const;
        return new RunDriver({ files: ['START.sh'] }).answer({ fail });
      },
      ['[main] failed: START.sh: it ended with exit code 2', 'To continue: raymond resume run-1 --retry'],
    ],
    [
      'an account cannot pay',
      () => new RunDriver(FILES).answer({ fail: { kind: 'billing', message: 'Add credit.' } }),
      ['[main] paused: Add credit.', 'To continue: raymond resume run-1'],
    ],
    [
      'a usage limit is not waited for',
      () => {
        const fail = { kind: 'usage_limit', message: 'Limit reached.', untilMs: NOON + 60_000 } as const;
        return new RunDriver(FILES, { wait: false }).answer({ fail });
      },
      ['Limit reached. It ends at 12:01.', 'To continue: raymond resume run-1'],
    ],
    [
      'a state was entered too often',
      () => {
        const driver = new RunDriver({ ...FILES, rules: { 'START.md': { maxVisits: 1 } } }).answer(
          '<goto>START</goto>',
        );
        driver.begin('main');
        return driver;
      },
      [
        '[main] START.md was entered 1 time, as often as max_visits allows: raise it in that file first.',
        'To continue: raymond resume run-1',
      ],
    ],
    [
      'it was told to stop',
      () => {
        const driver = new RunDriver(FILES);
        driver.begin('main');
        driver.apply({ kind: 'stopped', at: 2000, by: 'stopped' });
        return driver.reply('main', '<goto>BUILD</goto>');
      },
      ['It was told to stop.', 'To continue: raymond resume run-1'],
    ],
  ])('has the reason and the command to resume: %s', (_, play, lines) => {
    expect(renderRunEnd(play().run, PAGE)).toStrictEqual(lines);
  });

  test('has all details if they were not printed before', () => {
    const fail = { kind: 'script', message: 'it ended with exit code 2\nlast words' } as const;
    expect(renderRunEnd(new RunDriver({ files: ['START.sh'] }).answer({ fail }).run, PAGE, true)).toContain(
      'last words',
    );
  });

  test('does not repeat what was just printed, but always has the command to resume', () => {
    const { run } = new RunDriver({ files: ['START.sh'] }).answer({ fail: { kind: 'script', message: 'no' } });
    const lines = ['To continue: raymond resume run-1 --retry'];
    expect(renderRunEnd(run, { ...PAGE, alreadyReported: new Set(['main']) })).toStrictEqual(lines);
    expect(renderRunEnd(run, { ...PAGE, alreadyReported: new Set(['other']) })).toStrictEqual([
      '[main] failed: START.sh: no',
      ...lines,
    ]);
  });

  test('puts a command on its own line if it does not fit', () => {
    const { run, events } = new RunDriver({ files: ['START.sh'] }).answer({ fail: { kind: 'script', message: 'no' } });
    const folder = `.raymond/debug/${'long_name_'.repeat(3)}`;
    const page = { ...PAGE, columns: 38, debugFolder: folder };
    expect(renderSummary(run, tallyOf(events), page)).toContain(
      `\nDebug files:\n  ${folder}\n[main] failed: START.sh: no\nTo continue:\n  raymond resume run-1 --retry\n`,
    );
  });

  test('has one sentence for agents with the same problem', () => {
    const driver = new RunDriver({ files: ['START.md', 'W.sh'] });
    driver.answer('<fork next="W">W</fork><fork next="W">W</fork><fork next="W">W</fork><fork next="W">W</fork>');
    for (const { id } of driver.run.agents) driver.runTurn(id, '?');
    const trouble = 'failed: W.sh: no next step is found in its output: it contains no tag; it printed:\n?';
    expect(describeUnfinished(driver.run, NOON)).toStrictEqual([`[main, main_w1 and 3 more] ${trouble}`]);
  });
});

describe('a higher budget', () => {
  const command = (budget: number, spent: number): string | null => {
    const { run } = new RunDriver(FILES, { budgetMicros: usdToMicros(budget) });
    const ledger = { ...run.ledger, spentMicros: usdToMicros(spent) };
    return formatResumeCommand({ ...run, status: 'budget_exceeded', stop: { kind: 'budget' }, ledger } satisfies Run);
  };

  test.each([
    [10, 10.2, '20'],
    [5, 5, '10'],
    [7, 7, '20'],
    [20, 21, '40'],
    [0.05, 0.06, '0.1'],
    [0.1, 0.1, '0.2'],
    [1, 40, '60'],
    [150, 150, '300'],
  ])('after %s of which %s are spent is %s', (budget, spent, higher) => {
    expect(command(budget, spent)).toBe(`raymond resume run-1 --budget ${higher}`);
  });
});
