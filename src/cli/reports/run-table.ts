import type { RunListEntry, RunSummary } from '../../app/list-runs.ts';
import { countTokens } from '../../core/run/tokens.ts';
import { countAgents } from '../../documents/run-document.ts';
import { formatAge, formatCount, formatObservedStatus, formatShortCount, formatSpending } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import type { RenderContext } from '../../render/terminal/terminal.ts';
import { getStatusStyle } from '../../render/text-style.ts';

/** Renders a table of runs, with their names if the ids do not begin with them. */
export function renderRunTable(runs: readonly RunListEntry[], context: RenderContext): readonly string[] {
  const hasNames = runs.some((run) => run.kind === 'run' && !run.id.startsWith(formatIdPrefix(run.name)));
  const hasTokens = runs.some((run) => run.kind === 'run' && countTokens(run.ledger.tokens) > 0);
  return renderTable(runs, createRunColumns(hasNames, hasTokens, context.now), context);
}

function createRunColumns(hasNames: boolean, hasTokens: boolean, now: number): readonly Column<RunListEntry>[] {
  const ifReadable = (cell: (run: RunSummary) => string) => (run: RunListEntry) =>
    run.kind === 'run' ? cell(run) : '';
  return [
    { title: 'RUN', cell: ({ id }) => id },
    ...(hasNames ? [{ title: 'NAME', cell: ifReadable(formatRunName), spare: true }] : []),
    {
      title: 'STATUS',
      cell: formatRunStatus,
      style: (run) => (run.kind === 'run' ? getStatusStyle(run.observedStatus) : 'red'),
    },
    { title: 'AGENTS', cell: ifReadable(formatAgentCounts), spare: true },
    {
      title: 'COST',
      cell: ifReadable(({ ledger }) => formatSpending({ ...ledger, estimatedMicros: 0 })),
      align: 'right',
    },
    ...(hasTokens
      ? [{ title: 'TOKENS', cell: ifReadable(formatRunTokens), align: 'right', spare: true } as const]
      : []),
    { title: 'AGE', cell: ifReadable(({ startedAt }) => formatAge(startedAt, now)), align: 'right' },
  ];
}

/** The beginning of an id that is made from this name. */
const formatIdPrefix = (name: string): string => name.replace(/[^A-Za-z0-9_-]+/g, '-');

const formatRunTokens = ({ ledger }: RunSummary): string => {
  const count = countTokens(ledger.tokens);
  return count === 0 ? '' : formatShortCount(count);
};

const formatRunName = ({ name }: RunSummary): string => sanitizeLine(name);

function formatRunStatus(run: RunListEntry): string {
  if (run.kind === 'unreadable') return 'unreadable';
  const { observedStatus, owner, damage } = run;
  const isDriven = observedStatus === 'running' || observedStatus === 'stopping';
  const status = isDriven
    ? `${observedStatus} (${owner?.node?.name ?? owner?.pid ?? '?'})`
    : formatObservedStatus(observedStatus);
  return damage.length === 0 ? status : `${status}, damaged`;
}

function formatAgentCounts(run: RunSummary): string {
  const { asking = 0, cancelled = 0 } = run.agents;
  const { live, ...others } = countAgents(run);
  return Object.entries({ live: live - asking, ...others, cancelled, asking })
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

/** Says that runs have lost their process, and how to continue; null if there are none. */
export function describeCrashedRuns(ids: readonly string[]): string | null {
  const [only, second] = ids;
  if (only === undefined) return null;
  return second === undefined
    ? `The process of ${only} has died. To continue: raymond resume ${only}`
    : `The processes of ${formatCount(ids.length, 'run')} have died. To continue with all of them: raymond recover --resume`;
}
