import { padded, wrapped } from '../observers/fit.ts';
import { linesOf, oneLine } from '../observers/harmless.ts';
import { outlookOf } from '../observers/outlook.ts';
import { endOf } from '../observers/standing-document.ts';
import { dollars, duration, localTime } from '../observers/words.ts';
import { workedMs } from '../observers/worked.ts';
import type { StatusReport } from '../raymond/status.ts';
import { agentTable } from './agent-table.ts';
import type { Page } from './page.ts';
import { ago, standingInk, standingWord } from './standings.ts';
import { type Column, tableOf } from './table.ts';

/** Where a run stands, for people. */
export function statusPage(report: StatusReport, page: Page): readonly string[] {
  const parts = [
    [...headOf(report, page), ...factsOf(report, page)],
    agentTable(report, page),
    transitionTable(report, page),
    outlookLines(report, page),
  ];
  return parts.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

function headOf({ run, standing, owner }: StatusReport, page: Page): readonly string[] {
  const { dye } = page;
  const process = owner?.state === 'alive' ? ` (process ${owner.pid})` : '';
  const word = dye(standingInk(standing), `${standingWord(standing)}${process}`);
  return wrapped(`${dye('bold', run.id)}  ${word}`, page.columns);
}

type Fact = readonly [label: string, value: string];

function factsOf(report: StatusReport, page: Page): readonly string[] {
  const { run, history } = report;
  const { options, ledger, workflow, startedAt, name } = run;
  const worked = workedMs(history.worked, endOf(report, history, page.now));
  const budget = options.budgetMicros === null ? '' : ` of ${dollars(options.budgetMicros)}`;
  const estimate = ledger.estimatedMicros === 0 ? '' : ` (${dollars(ledger.estimatedMicros)} estimated)`;
  const facts: readonly Fact[] = [
    ...(name === workflow.name ? [] : [['name', oneLine(name)] as const]),
    ['workflow', oneLine(workflow.path)],
    ['started', `${localTime(startedAt)}, ${ago(startedAt, page.now)} ago`],
    ['at work', duration(worked)],
    ['cost', `${dollars(ledger.spentMicros)}${budget}${estimate}`],
    ...(options.maxIterations === null
      ? []
      : [['states', `${run.iterations} of ${options.maxIterations} entered`] as const]),
  ];
  return facts.flatMap(([label, value]) => wrapped(`${page.dye('dim', padded(label, LABEL))}${value}`, page.columns));
}

const LABEL = 10;

type Transition = StatusReport['history']['transitions'][number];

function transitionTable({ history }: StatusReport, page: Page): readonly string[] {
  const { transitions } = history;
  if (transitions.length === 0) return [];
  const costs = transitions.some(({ costMicros }) => costMicros > 0);
  const columns: readonly Column<Transition>[] = [
    { title: 'TIME', cell: ({ at }) => moment(at, page.now), ink: () => 'dim', spare: true },
    { title: 'AGENT', cell: ({ agent }) => agent },
    { title: 'LATEST TRANSITIONS', cell: ({ state, to, tag }) => `${state} → ${to ?? 'end'} (${tag})` },
    ...(costs ? [{ title: 'COST', cell: costOf, align: 'right', spare: true } as const] : []),
  ];
  return tableOf(transitions, columns, page);
}

const costOf = ({ costMicros }: Transition): string => dollars(costMicros);

/** The time of day, with its date if that is not today. */
function moment(at: number, now: number): string {
  const [day, time = ''] = localTime(at).split(' ');
  return localTime(now).startsWith(`${day} `) ? time : `${day} ${time}`;
}

function outlookLines(report: StatusReport, page: Page): readonly string[] {
  const { waitsFor, commands } = outlookOf(report, page.now);
  return [
    ...waitsFor.flatMap(paragraph).flatMap((line) => wrapped(line, page.columns)),
    // Not broken into lines: they are there to be copied.
    ...commands.map(({ purpose, command }) => `${purpose}: ${page.dye('bold', command)}`),
  ];
}

/** What someone said in several lines, set off from what is said next. */
const paragraph = (text: string): readonly string[] => linesOf(text).map((line, at) => (at === 0 ? line : `  ${line}`));
