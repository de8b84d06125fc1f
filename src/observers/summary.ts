import type { Run, RunStatus } from '../core/run.ts';
import { padded, shorten, widthOf, wrapped } from './fit.ts';
import { goOnCommand, reasonsOf } from './go-on.ts';
import { linesOf } from './harmless.ts';
import { type Dye, dyeFor, type Ink } from './ink.ts';
import type { StateTally, Tally } from './tally.ts';
import { counted, dollars, took } from './words.ts';
import { workedMs } from './worked.ts';

/** Where a summary is to be read: null columns are as many as it takes. */
export interface Page {
  readonly columns: number | null;
  readonly colour: boolean;
  readonly now: number;
  /** The folder in which the run is known, if that is not the user's own. */
  readonly elsewhere: string | null;
  /** Where the debug files are, as the user would write it; null if there are none. */
  readonly debugFolder: string | null;
  /** The agents whose trouble the reader knows already. */
  readonly justTold: ReadonlySet<string>;
}

/** What a run came to: how long, how much, state by state; and if it did not end well, why and how to go on. */
export function summaryOf(run: Run, tally: Tally, page: Page): string {
  const columns = (page.columns ?? Number.POSITIVE_INFINITY) - 1;
  const dye = dyeFor(page.colour);
  const debug = page.debugFolder === null ? [] : labelled('Debug files:', page.debugFolder, columns);
  const lines = [
    ...wrapped(headline(run, tally, page.now, dye), columns),
    ...table(tally.states, columns, dye),
    ...debug.map((line) => dye('dim', line)),
    ...ending(run, page),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Why it did not end well and the command to go on; nothing if it did. `whole` says everything that is known. */
export function ending(run: Run, page: Omit<Page, 'debugFolder'>, whole = false): readonly string[] {
  const command = goOnCommand(run);
  if (command === null) return [];
  const columns = (page.columns ?? Number.POSITIVE_INFINITY) - 1;
  const dye = dyeFor(page.colour);
  const agents = run.agents.filter(({ id }) => !page.justTold.has(id));
  const reasons = reasonsOf({ ...run, agents }, page.now).flatMap((reason) => {
    const [first = '', ...rest] = linesOf(reason);
    return [...wrapped(first, columns).map((line) => dye(INKS[run.status], line)), ...(whole ? rest : [])];
  });
  const from = page.elsewhere === null ? '' : `cd ${quoted(page.elsewhere)} && `;
  return [...reasons, ...labelled('To go on:', dye('bold', `${from}${command}`), columns)];
}

/** What is there to be copied is not broken into lines, but gets one of its own where it does not fit beside its label. */
const labelled = (label: string, text: string, columns: number): readonly string[] =>
  widthOf(`${label} ${text}`) <= columns ? [`${label} ${text}`] : [label, `  ${text}`];

/** A path as a shell takes it. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

const VERDICTS: Record<RunStatus, string> = {
  running: 'Still going on after',
  completed: 'Completed in',
  failed: 'Failed after',
  waiting: 'Waiting for a person after',
  paused: 'Paused after',
  budget_exceeded: 'Stopped by the budget after',
  iteration_limit: 'Stopped by a limit after',
  interrupted: 'Interrupted after',
};

const INKS: Record<RunStatus, Ink> = {
  running: 'yellow',
  completed: 'green',
  failed: 'red',
  waiting: 'yellow',
  paused: 'yellow',
  budget_exceeded: 'yellow',
  iteration_limit: 'yellow',
  interrupted: 'yellow',
};

function headline({ status, agents, options, ledger }: Run, tally: Tally, now: number, dye: Dye): string {
  const { spentMicros, estimatedMicros } = ledger;
  const turns = tally.states.reduce((sum, state) => sum + state.turns, 0);
  const budget = options.budgetMicros === null || spentMicros === 0 ? '' : ` of ${dollars(options.budgetMicros)}`;
  const estimated = estimatedMicros === 0 ? '' : ` (${dollars(estimatedMicros)} estimated)`;
  const figures = [
    ...(agents.length > 1 ? [counted(agents.length, 'agent')] : []),
    counted(turns, 'turn'),
    `${dollars(spentMicros)}${budget}${estimated}`,
  ];
  const verdict = `${VERDICTS[status]} ${took(workedMs(tally.worked, now))}`;
  return `${dye(INKS[status], verdict)}: ${figures.join(', ')}.`;
}

const MOST_STATES = 15;

/** A line for each state where there are several; of very many, those that took longest. */
function table(states: readonly StateTally[], columns: number, dye: Dye): readonly string[] {
  if (states.length < 2) return [];
  const longest = new Set(states.toSorted((a, b) => b.ms - a.ms).slice(0, MOST_STATES));
  const shown = states.length > MOST_STATES ? states.filter((state) => longest.has(state)) : states;
  const numbers = COLUMNS.filter(([, isNeeded]) => isNeeded(states)).map(([title, , cell]) => {
    const cells = shown.map(cell);
    const width = Math.max(...[title, ...cells].map(widthOf));
    return [title, ...cells].map((text) => `  ${padded(text, width, 'left')}`);
  });
  const taken = numbers.reduce((sum, cells) => sum + widthOf(cells[0] ?? ''), 2);
  const widest = Math.max(...shown.map(({ state }) => widthOf(state)));
  const width = Math.max(5, Math.min(widest, columns - taken));
  const rows = ['', ...shown.map(({ state }) => state)].map((name, row) =>
    `  ${padded(shorten(name, width), width)}${numbers.map((cells) => cells[row]).join('')}`.trimEnd(),
  );
  const left = states.length - shown.length;
  return [
    dye('dim', rows[0] ?? ''),
    ...rows.slice(1),
    ...(left > 0 ? [dye('dim', `  … ${counted(left, 'more state')}`)] : []),
  ];
}

type Column = readonly [
  title: string,
  isNeeded: (states: readonly StateTally[]) => boolean,
  cell: (state: StateTally) => string,
];

const COLUMNS: readonly Column[] = [
  ['visits', () => true, ({ visits }) => String(visits)],
  // Only where some state took more than one turn a visit.
  ['turns', (states) => states.some(({ visits, turns }) => visits !== turns), ({ turns }) => String(turns)],
  ['time', () => true, ({ ms }) => took(ms)],
  ['cost', (states) => states.some(({ micros }) => micros > 0), ({ micros }) => (micros === 0 ? '' : dollars(micros))],
];
