import type { Run, RunStatus } from '../core/run.ts';
import { formatCount, formatDollars, formatElapsed } from '../events/format.ts';
import { describeUnfinished, formatResumeCommand } from '../events/next-steps.ts';
import type { RunTally, StateTally } from '../events/run-tally.ts';
import { sanitizeLines } from '../events/sanitize.ts';
import { type Colorizer, createColorizer, type TextStyle } from '../events/text-style.ts';
import { computeWorkMs } from '../events/work-time.ts';
import { padToWidth, shorten, widthOf, wrapText } from './text-width.ts';

/** Where a summary is to be read: null columns are as many as it takes. */
export interface SummaryOptions {
  readonly columns: number | null;
  readonly colour: boolean;
  readonly now: number;
  /** The folder in which the run is known, if that is not the user's own. */
  readonly otherFolder: string | null;
  /** Where the debug files are, as the user would write it; null if there are none. */
  readonly debugFolder: string | null;
  /** The agents whose trouble the reader knows already. */
  readonly alreadyReported: ReadonlySet<string>;
}

/** What a run came to: how long, how much, state by state; and if it did not end well, why and how to go on. */
export function renderSummary(run: Run, tally: RunTally, summaryOptions: SummaryOptions): string {
  const columns = (summaryOptions.columns ?? Number.POSITIVE_INFINITY) - 1;
  const colorize = createColorizer(summaryOptions.colour);
  const debug =
    summaryOptions.debugFolder === null ? [] : formatLabelled('Debug files:', summaryOptions.debugFolder, columns);
  const lines = [
    ...wrapText(renderSummaryHeadline(run, tally, summaryOptions.now, colorize), columns),
    ...renderStateTable(tally.states, columns, colorize),
    ...debug.map((line) => colorize('dim', line)),
    ...renderRunEnd(run, summaryOptions),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Why it did not end well and the command to go on; nothing if it did. `whole` says everything that is known. */
export function renderRunEnd(
  run: Run,
  summaryOptions: Omit<SummaryOptions, 'debugFolder'>,
  showAll = false,
): readonly string[] {
  const command = formatResumeCommand(run);
  if (command === null) return [];
  const columns = (summaryOptions.columns ?? Number.POSITIVE_INFINITY) - 1;
  const colorize = createColorizer(summaryOptions.colour);
  const agents = run.agents.filter(({ id }) => !summaryOptions.alreadyReported.has(id));
  const reasons = describeUnfinished({ ...run, agents }, summaryOptions.now).flatMap((reason) => {
    const [first = '', ...rest] = sanitizeLines(reason);
    return [
      ...wrapText(first, columns).map((line) => colorize(STATUS_STYLES[run.status], line)),
      ...(showAll ? rest : []),
    ];
  });
  const cdPrefix = summaryOptions.otherFolder === null ? '' : `cd ${quotePath(summaryOptions.otherFolder)} && `;
  return [...reasons, ...formatLabelled('To go on:', colorize('bold', `${cdPrefix}${command}`), columns)];
}

/** What is there to be copied is not broken into lines, but gets one of its own where it does not fit beside its label. */
const formatLabelled = (label: string, text: string, columns: number): readonly string[] =>
  widthOf(`${label} ${text}`) <= columns ? [`${label} ${text}`] : [label, `  ${text}`];

/** A path as a shell takes it. */
const quotePath = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

const STATUS_PHRASES: Record<RunStatus, string> = {
  running: 'Still going on after',
  completed: 'Completed in',
  failed: 'Failed after',
  waiting: 'Waiting for a person after',
  paused: 'Paused after',
  budget_exceeded: 'Stopped by the budget after',
  iteration_limit: 'Stopped by a limit after',
  interrupted: 'Interrupted after',
};

const STATUS_STYLES: Record<RunStatus, TextStyle> = {
  running: 'yellow',
  completed: 'green',
  failed: 'red',
  waiting: 'yellow',
  paused: 'yellow',
  budget_exceeded: 'yellow',
  iteration_limit: 'yellow',
  interrupted: 'yellow',
};

function renderSummaryHeadline(
  { status, agents, options, ledger }: Run,
  tally: RunTally,
  now: number,
  colorize: Colorizer,
): string {
  const { spentMicros, estimatedMicros } = ledger;
  const turns = tally.states.reduce((sum, state) => sum + state.turns, 0);
  const budget = options.budgetMicros === null || spentMicros === 0 ? '' : ` of ${formatDollars(options.budgetMicros)}`;
  const estimated = estimatedMicros === 0 ? '' : ` (${formatDollars(estimatedMicros)} estimated)`;
  const figures = [
    ...(agents.length > 1 ? [formatCount(agents.length, 'agent')] : []),
    formatCount(turns, 'turn'),
    `${formatDollars(spentMicros)}${budget}${estimated}`,
  ];
  const outcome = `${STATUS_PHRASES[status]} ${formatElapsed(computeWorkMs(tally.worked, now))}`;
  return `${colorize(STATUS_STYLES[status], outcome)}: ${figures.join(', ')}.`;
}

const MAX_STATES = 15;

/** A line for each state where there are several; of very many, those that took longest. */
function renderStateTable(states: readonly StateTally[], columns: number, colorize: Colorizer): readonly string[] {
  if (states.length < 2) return [];
  const longest = new Set(states.toSorted((a, b) => b.ms - a.ms).slice(0, MAX_STATES));
  const shown = states.length > MAX_STATES ? states.filter((state) => longest.has(state)) : states;
  const numbers = COLUMNS.filter(([, isNeeded]) => isNeeded(states)).map(([title, , cell]) => {
    const cells = shown.map(cell);
    const width = Math.max(...[title, ...cells].map(widthOf));
    return [title, ...cells].map((text) => `  ${padToWidth(text, width, 'left')}`);
  });
  const numbersWidth = numbers.reduce((sum, cells) => sum + widthOf(cells[0] ?? ''), 2);
  const widest = Math.max(...shown.map(({ state }) => widthOf(state)));
  const width = Math.max(5, Math.min(widest, columns - numbersWidth));
  const rows = ['', ...shown.map(({ state }) => state)].map((name, row) =>
    `  ${padToWidth(shorten(name, width), width)}${numbers.map((cells) => cells[row]).join('')}`.trimEnd(),
  );
  const hiddenCount = states.length - shown.length;
  return [
    colorize('dim', rows[0] ?? ''),
    ...rows.slice(1),
    ...(hiddenCount > 0 ? [colorize('dim', `  … ${formatCount(hiddenCount, 'more state')}`)] : []),
  ];
}

type StateColumn = readonly [
  title: string,
  isNeeded: (states: readonly StateTally[]) => boolean,
  cell: (state: StateTally) => string,
];

const COLUMNS: readonly StateColumn[] = [
  ['visits', () => true, ({ visits }) => String(visits)],
  // Only where some state took more than one turn a visit.
  ['turns', (states) => states.some(({ visits, turns }) => visits !== turns), ({ turns }) => String(turns)],
  ['time', () => true, ({ ms }) => formatElapsed(ms)],
  [
    'cost',
    (states) => states.some(({ micros }) => micros > 0),
    ({ micros }) => (micros === 0 ? '' : formatDollars(micros)),
  ],
];
