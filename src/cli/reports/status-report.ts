import {
  formatAge,
  formatDollars,
  formatDuration,
  formatLocalTime,
  formatObservedStatus,
  formatSpending,
  formatTimeOfDay,
} from '../../events/format.ts';
import { describeNextSteps } from '../../events/next-steps.ts';
import { findWorkEndMs } from '../../events/run-document.ts';
import { sanitizeLine, sanitizeLines } from '../../events/sanitize.ts';
import { getStatusStyle } from '../../events/text-style.ts';
import { padToWidth, wrapText } from '../../events/text-width.ts';
import { computeWorkMs } from '../../events/work-time.ts';
import type { StatusReport } from '../../runtime/status.ts';
import type { RenderContext } from '../../terminal/render-context.ts';
import { type Column, renderTable } from '../../terminal/table.ts';
import { renderAgentTable } from './agent-table.ts';

/** Renders the state of a run for people. */
export function renderStatusReport(report: StatusReport, context: RenderContext): readonly string[] {
  const parts = [
    [...renderStatusHeadline(report, context), ...renderFacts(report, context)],
    renderAgentTable(report, context),
    renderTransitionTable(report, context),
    renderNextSteps(report, context),
  ];
  return parts.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

function renderStatusHeadline({ run, observedStatus, owner }: StatusReport, context: RenderContext): readonly string[] {
  const { colorize } = context;
  const process = owner?.state === 'alive' ? ` (process ${owner.pid})` : '';
  const word = colorize(getStatusStyle(observedStatus), `${formatObservedStatus(observedStatus)}${process}`);
  return wrapText(`${colorize('bold', run.id)}  ${word}`, context.columns);
}

type Fact = readonly [label: string, value: string];

function renderFacts(report: StatusReport, context: RenderContext): readonly string[] {
  const { run, history } = report;
  const { options, ledger, workflow, startedAt, name } = run;
  const worked = computeWorkMs(history.worked, findWorkEndMs(report, history, context.now));
  const facts: readonly Fact[] = [
    ...(name === workflow.name ? [] : [['name', sanitizeLine(name)] as const]),
    ['workflow', sanitizeLine(workflow.path)],
    ['started', `${formatLocalTime(startedAt)}, ${formatAge(startedAt, context.now)} ago`],
    ['at work', formatDuration(worked)],
    ['cost', formatSpending(ledger.spentMicros, options.budgetMicros, ledger.estimatedMicros)],
    ...(options.maxIterations === null
      ? []
      : [['states', `${run.iterations} of ${options.maxIterations} entered`] as const]),
  ];
  return facts.flatMap(([label, value]) =>
    wrapText(`${context.colorize('dim', padToWidth(label, LABEL_COLUMNS))}${value}`, context.columns),
  );
}

const LABEL_COLUMNS = 10;

type RecentTransition = StatusReport['history']['transitions'][number];

function renderTransitionTable({ history }: StatusReport, context: RenderContext): readonly string[] {
  const { transitions } = history;
  if (transitions.length === 0) return [];
  const hasCosts = transitions.some(({ costMicros }) => costMicros > 0);
  const columns: readonly Column<RecentTransition>[] = [
    { title: 'TIME', cell: ({ at }) => formatTimeOfDay(at, context.now), style: () => 'dim', spare: true },
    { title: 'AGENT', cell: ({ agent }) => agent },
    { title: 'LATEST TRANSITIONS', cell: ({ state, to, tag }) => `${state} → ${to ?? 'end'} (${tag})` },
    ...(hasCosts ? [{ title: 'COST', cell: formatTransitionCost, align: 'right', spare: true } as const] : []),
  ];
  return renderTable(transitions, columns, context);
}

const formatTransitionCost = ({ costMicros }: RecentTransition): string => formatDollars(costMicros);

function renderNextSteps(report: StatusReport, context: RenderContext): readonly string[] {
  const { waitsFor, commands } = describeNextSteps(report, context.now);
  return [
    ...waitsFor.flatMap(indentContinuation).flatMap((line) => wrapText(line, context.columns)),
    // Not wrapped, because they are there to be copied.
    ...commands.map(({ purpose, command }) => `${purpose}: ${context.colorize('bold', command)}`),
  ];
}

/** The lines of a text, all but the first indented. */
const indentContinuation = (text: string): readonly string[] =>
  sanitizeLines(text).map((line, at) => (at === 0 ? line : `  ${line}`));
