import { oneLine } from '../observers/harmless.ts';
import { dollars } from '../observers/words.ts';
import { agentCounts, type Listed, type RunSummary } from '../raymond/runs.ts';
import type { Page } from './page.ts';
import { ago, standingInk, standingWord } from './standings.ts';
import { type Column, tableOf } from './table.ts';

/** Runs as a table for people. Names are told where the ids do not tell them. */
export function runTable(runs: readonly Listed[], page: Page): readonly string[] {
  const isNamed = runs.some((run) => run.kind === 'run' && !run.id.startsWith(wordsOf(run.name)));
  return tableOf(runs, columnsFor(isNamed, page.now), page);
}

function columnsFor(isNamed: boolean, now: number): readonly Column<Listed>[] {
  const ofRun = (cell: (run: RunSummary) => string) => (run: Listed) => (run.kind === 'run' ? cell(run) : '');
  return [
    { title: 'RUN', cell: ({ id }) => id },
    ...(isNamed ? [{ title: 'NAME', cell: ofRun(nameOf), spare: true }] : []),
    { title: 'STATUS', cell: statusOf, ink: (run) => (run.kind === 'run' ? standingInk(run.standing) : 'red') },
    { title: 'AGENTS', cell: ofRun(agentsOf), spare: true },
    { title: 'COST', cell: ofRun(({ spentMicros }) => dollars(spentMicros)), align: 'right' },
    { title: 'AGE', cell: ofRun(({ startedAt }) => ago(startedAt, now)), align: 'right' },
  ];
}

/** A name as the id that is made of it begins. */
const wordsOf = (name: string): string => name.replace(/[^A-Za-z0-9_-]+/g, '-');

const nameOf = ({ name }: RunSummary): string => oneLine(name);

function statusOf(run: Listed): string {
  if (run.kind === 'unreadable') return 'unreadable';
  const { standing, owner } = run;
  return standing === 'running' || standing === 'stopping'
    ? `${standing} (${owner?.pid ?? '?'})`
    : standingWord(standing);
}

function agentsOf(run: RunSummary): string {
  return Object.entries(agentCounts(run))
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}
