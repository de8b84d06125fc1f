import type { StatusReport } from '../../app/status.ts';
import type { Quota } from '../../core/run/quota.ts';
import { ledgerOf } from '../../core/run/run.ts';
import { countTokens, type ModelShare } from '../../core/run/tokens.ts';
import { findWorkEndMs } from '../../documents/run-document.ts';
import {
  describeWorkspace,
  formatAge,
  formatAnyTokens,
  formatClock,
  formatDollars,
  formatDuration,
  formatLocalTime,
  formatObservedStatus,
  formatShortCount,
  formatSpending,
  formatTimeOfDay,
  formatTokenKinds,
  formatTokens,
} from '../../render/format.ts';
import { describeLeftWorktrees, type FoundWorktree } from '../../render/found-worktree.ts';
import { describeNextSteps } from '../../render/next-steps.ts';
import { formatQuotaWindows } from '../../render/quota.ts';
import { sanitizeLine, sanitizeLines } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import type { RenderContext } from '../../render/terminal/terminal.ts';
import { getStatusStyle } from '../../render/text-style.ts';
import { padToWidth, wrapText } from '../../render/text-width.ts';
import { formatWarnings } from '../../render/warnings.ts';
import { computeWorkMs } from '../../render/work-time.ts';
import { renderAgentTable } from './agent-table.ts';

/** Renders the state of a run for people; with `all`, every agent however many they are. */
export function renderStatusReport(
  report: StatusReport,
  context: RenderContext,
  all = false,
  worktrees: readonly FoundWorktree[] = [],
): readonly string[] {
  const parts = [
    [...renderStatusHeadline(report, context), ...renderDamage(report, context), ...renderFacts(report, context)],
    renderAgentTable(report, context, all),
    renderTransitionTable(report, context),
    renderWarnings(report, context),
    renderLeftWorktrees(worktrees, context),
    renderNextSteps(report, context),
  ];
  return parts.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

function renderStatusHeadline({ run, observedStatus, owner }: StatusReport, context: RenderContext): readonly string[] {
  const { colorize } = context;
  const driver = owner?.node === undefined ? `process ${owner?.pid}` : `node ${owner.node.name}`;
  const process = owner?.state === 'alive' ? ` (${driver})` : '';
  const word = colorize(getStatusStyle(observedStatus), `${formatObservedStatus(observedStatus)}${process}`);
  return wrapText(`${colorize('bold', run.id)}  ${word}`, context.columns);
}

const renderDamage = ({ damage }: StatusReport, { columns, colorize }: RenderContext): readonly string[] =>
  damage.flatMap((sentence) => wrapText(sentence, columns).map((line) => colorize('yellow', line)));

type Fact = readonly [label: string, value: string];

function renderFacts(report: StatusReport, context: RenderContext): readonly string[] {
  const { run, history, openConversations } = report;
  const { options, workflow, startedAt, name, rerunOf } = run;
  const ledger = ledgerOf(run);
  const worked = computeWorkMs(history.worked, findWorkEndMs(report, history, context.now));
  const facts: readonly Fact[] = [
    ...(name === workflow.name ? [] : [['name', sanitizeLine(name)] as const]),
    ['workflow', sanitizeLine(workflow.path)],
    ...(rerunOf === undefined ? [] : [['rerun', `of ${rerunOf.run} from ${sanitizeLine(rerunOf.point)}`] as const]),
    ['started', `${formatLocalTime(startedAt)}, ${formatAge(startedAt, context.now)} ago`],
    ['at work', formatDuration(worked)],
    ['cost', formatSpending({ ...ledger, budgetMicros: options.budgetMicros })],
    ...formatAnyTokens(ledger.tokens).map((total): Fact => ['tokens', `${total}: ${formatTokenKinds(ledger.tokens)}`]),
    ...(history.models.length === 0 ? [] : [['models', formatModels(history.models)] as const]),
    ...describeWorkspace(run).map((text): Fact => ['clone', sanitizeLine(text)]),
    ...(openConversations === null || openConversations === 0
      ? []
      : [['open', describeOpen(openConversations)] as const]),
    ...listQuota(run.quota, context.now).map((window): Fact => ['quota', window]),
    ...(options.maxIterations === null
      ? []
      : [['states', `${run.iterations} of ${options.maxIterations} entered`] as const]),
  ];
  return facts.flatMap(([label, value]) =>
    wrapText(`${context.colorize('dim', padToWidth(label, LABEL_COLUMNS))}${value}`, context.columns),
  );
}

const listQuota = (quota: Quota | null, now: number): readonly string[] =>
  quota === null ? [] : formatQuotaWindows(quota, (ms) => formatClock(ms, now));

/** `3 conversations, about 600 MB of memory`. */
const describeOpen = (count: number): string =>
  `${count === 1 ? '1 conversation' : `${count} conversations`}, about ${count * MB_PER_CONVERSATION} MB of memory`;

const MB_PER_CONVERSATION = 200;
const LABEL_COLUMNS = 10;
const MAX_MODELS = 5;

/** `claude-opus-5-5 $0.40 (1.2M tokens), …`. */
function formatModels(models: readonly ModelShare[]): string {
  const shown = models.slice(0, MAX_MODELS).map(({ model, micros, tokens }) => {
    return `${sanitizeLine(model)} ${formatDollars(micros)} (${formatTokens(tokens)})`;
  });
  return [...shown, ...(models.length > MAX_MODELS ? [`${models.length - MAX_MODELS} more`] : [])].join(', ');
}

type RecentTransition = StatusReport['history']['transitions'][number];

function renderTransitionTable({ history }: StatusReport, context: RenderContext): readonly string[] {
  const { transitions, labels } = history;
  if (transitions.length === 0) return [];
  const hasCosts = transitions.some(({ costMicros }) => costMicros > 0);
  const hasTokens = transitions.some(({ tokens }) => countTokens(tokens) > 0);
  const columns: readonly Column<RecentTransition>[] = [
    { title: 'TIME', cell: ({ at }) => formatTimeOfDay(at, context.now), style: () => 'dim', spare: true },
    { title: 'AGENT', cell: ({ agent }) => labels.of(agent) },
    { title: 'LATEST TRANSITIONS', cell: formatTransitionStates },
    ...(hasCosts ? [{ title: 'COST', cell: formatTransitionCost, align: 'right', spare: true } as const] : []),
    ...(hasTokens ? [{ title: 'TOKENS', cell: formatTransitionTokens, align: 'right', spare: true } as const] : []),
  ];
  return renderTable(transitions, columns, context);
}

const formatTransitionStates = ({ state, to, tag, choice }: RecentTransition): string =>
  `${state} → ${to ?? 'end'} (${choice.by === 'answer' ? tag : `${tag}, by ${choice.name}`})`;
const formatTransitionCost = ({ costMicros }: RecentTransition): string => formatDollars(costMicros);
const formatTransitionTokens = ({ tokens }: RecentTransition): string => formatShortCount(countTokens(tokens));

const MAX_WARNINGS = 10;

const renderWarnings = ({ history }: StatusReport, { columns, colorize }: RenderContext): readonly string[] =>
  formatWarnings(history.warnings, MAX_WARNINGS).flatMap((line) =>
    wrapText(sanitizeLine(line), columns).map((part) => colorize('yellow', part)),
  );

function renderLeftWorktrees(worktrees: readonly FoundWorktree[], context: RenderContext): readonly string[] {
  const { lines, command } = describeLeftWorktrees(worktrees);
  return [
    ...lines.flatMap((line) => wrapText(sanitizeLine(line), context.columns)),
    ...(command === null ? [] : [`${command.purpose}: ${context.colorize('bold', command.command)}`]),
  ];
}

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
