import { archivedCount } from '../../core/run/archive.ts';
import { ledgerOf, type Run, type RunStatus } from '../../core/run/run.ts';
import {
  formatAnyTokens,
  formatCount,
  formatDollars,
  formatElapsed,
  formatShortCount,
  formatSpending,
  quoteShellArgument,
} from '../format.ts';
import { describeLeftWorktrees, type FoundWorktree } from '../found-worktree.ts';
import { describeJoinedFailures, describeUnfinished, listCommandsAtRest } from '../next-steps.ts';
import type { RunHistory } from '../run-history.ts';
import type { StateTally } from '../run-tally.ts';
import { sanitizeLine, sanitizeLines } from '../sanitize.ts';
import { type Colorizer, createColorizer, getStatusStyle } from '../text-style.ts';
import { padToWidth, shorten, widthOf, wrapText } from '../text-width.ts';
import { formatWarnings, type RunWarnings } from '../warnings.ts';
import { computeWorkMs } from '../work-time.ts';

/** The screen of a summary's reader, and what they know already; null columns are unlimited. */
export interface SummaryOptions {
  readonly columns: number | null;
  readonly color: boolean;
  readonly now: number;
  /** The folder in which the run can be resumed; null if that is the current one. */
  readonly otherFolder: string | null;
  /** The path of the debug files; null if there are none. */
  readonly debugFolder: string | null;
  /** The agents whose problem was the last thing that the user has read. */
  readonly alreadyReported: ReadonlySet<string>;
  readonly warnings: RunWarnings;
  /** The worktrees that its workers have left. */
  readonly worktrees: readonly FoundWorktree[];
}

/** The part of a summary about all turns of a run. */
type SummaryTally = Pick<RunHistory, 'worked' | 'states'>;

/** The summary of a run: time and cost, state by state; and if it is not completed, why and how to continue. */
export function renderSummary(run: Run, tally: SummaryTally, summaryOptions: SummaryOptions): string {
  const columns = (summaryOptions.columns ?? Number.POSITIVE_INFINITY) - 1;
  const colorize = createColorizer(summaryOptions.color);
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

const MAX_WARNINGS = 5;

/**
 * Renders what the run warned of, where the results of archived agents are, and what is left in worktrees; and if the run is not completed, why and the
 * command to continue. `showAll` shows messages with all their lines.
 */
export function renderRunEnd(
  run: Run,
  summaryOptions: Omit<SummaryOptions, 'debugFolder'>,
  showAll = false,
): readonly string[] {
  const commands = listCommandsAtRest(run, summaryOptions.now);
  const columns = (summaryOptions.columns ?? Number.POSITIVE_INFINITY) - 1;
  const colorize = createColorizer(summaryOptions.color);
  const cdPrefix =
    summaryOptions.otherFolder === null ? '' : `cd ${quoteShellArgument(summaryOptions.otherFolder)} && `;
  const formatCommand = (label: string, text: string): readonly string[] =>
    formatLabelled(label, colorize('bold', `${cdPrefix}${text}`), columns);
  const archived = archivedCount(run);
  const archive =
    archived === 0
      ? []
      : formatCommand(`Results of ${formatCount(archived, 'archived agent')}:`, `raymond status ${run.id} --all`);
  const warnings = formatWarnings(summaryOptions.warnings, MAX_WARNINGS).flatMap((line) =>
    wrapText(sanitizeLine(line), columns).map((part) => colorize('yellow', part)),
  );
  const joined = describeJoinedFailures(run).flatMap((line) =>
    wrapText(sanitizeLine(line), columns).map((part) => colorize('yellow', part)),
  );
  const left = describeLeftWorktrees(summaryOptions.worktrees);
  const worktrees = [
    ...left.lines.flatMap((line) => wrapText(sanitizeLine(line), columns).map((part) => colorize('yellow', part))),
    ...(left.command === null ? [] : formatCommand(`${left.command.purpose}:`, left.command.command)),
  ];
  if (run.status === 'completed') return [...warnings, ...joined, ...archive, ...worktrees];
  const agents = run.agents.filter(({ id }) => !summaryOptions.alreadyReported.has(id));
  const reasons = describeUnfinished({ ...run, agents }, summaryOptions.now).flatMap((reason) => {
    const [first = '', ...rest] = sanitizeLines(reason);
    return [
      ...wrapText(first, columns).map((line) => colorize(getStatusStyle(run.status), line)),
      ...(showAll ? rest : []),
    ];
  });
  const next = commands.flatMap(({ purpose, command }) => formatCommand(`${purpose}:`, command));
  return [...warnings, ...joined, ...archive, ...worktrees, ...reasons, ...next];
}

/** A label and a text to be copied: the text is never wrapped, but gets its own line if it does not fit beside the label. */
const formatLabelled = (label: string, text: string, columns: number): readonly string[] =>
  widthOf(`${label} ${text}`) <= columns ? [`${label} ${text}`] : [label, `  ${text}`];

const STATUS_PHRASES: Record<RunStatus, string> = {
  running: 'Still running after',
  completed: 'Completed in',
  failed: 'Failed after',
  waiting: 'Waiting for a person after',
  paused: 'Paused after',
  budget_exceeded: 'Stopped by the budget after',
  iteration_limit: 'Stopped by a limit after',
  interrupted: 'Interrupted after',
};

function renderSummaryHeadline(run: Run, tally: SummaryTally, now: number, colorize: Colorizer): string {
  const { status, options } = run;
  const ledger = ledgerOf(run);
  const agents = run.agents.length + archivedCount(run);
  const turns = tally.states.reduce((sum, state) => sum + state.turns, 0);
  const budgetMicros = ledger.spentMicros === 0 ? null : options.budgetMicros;
  const figures = [
    ...(agents > 1 ? [formatCount(agents, 'agent')] : []),
    formatCount(turns, 'turn'),
    formatSpending({ ...ledger, budgetMicros }),
    ...formatAnyTokens(ledger.tokens),
  ];
  const outcome = `${STATUS_PHRASES[status]} ${formatElapsed(computeWorkMs(tally.worked, now))}`;
  return `${colorize(status === 'completed' ? 'green' : getStatusStyle(status), outcome)}: ${figures.join(', ')}.`;
}

const MAX_STATES = 15;

/** A row for each state if there are several; of very many, those that took longest. */
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
  // Only if some visit took more than one turn.
  ['turns', (states) => states.some(({ visits, turns }) => visits !== turns), ({ turns }) => String(turns)],
  ['time', () => true, ({ ms }) => formatElapsed(ms)],
  [
    'cost',
    (states) => states.some(({ micros }) => micros > 0),
    ({ micros }) => (micros === 0 ? '' : formatDollars(micros)),
  ],
  [
    'tokens',
    (states) => states.some(({ tokens }) => tokens > 0),
    ({ tokens }) => (tokens === 0 ? '' : formatShortCount(tokens)),
  ],
];
