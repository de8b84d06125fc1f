import type { Agent } from '../../core/agent.ts';
import { isLive } from '../../core/observed-status.ts';
import { formatClock, formatCount, formatDollars, formatDuration } from '../../events/format.ts';
import { getSessionId } from '../../events/run-document.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import type { TextStyle } from '../../events/text-style.ts';
import { shorten } from '../../events/text-width.ts';
import type { StatusReport } from '../../runtime/status.ts';
import type { RenderContext } from '../../terminal/render-context.ts';
import { type Column, renderTable } from '../../terminal/table.ts';

const MAX_AGENTS_ON_SCREEN = 30;
const MAX_RESULT_COLUMNS = 200;

/** Renders the agents of a run with their states, activities, times and costs; those that have ended come last. */
export function renderAgentTable(report: StatusReport, context: RenderContext): readonly string[] {
  const { agents } = report.run;
  const ordered = agents.toSorted((a, b) => Number(isEnded(a)) - Number(isEnded(b)));
  const shown = context.columns === Number.POSITIVE_INFINITY ? ordered : ordered.slice(0, MAX_AGENTS_ON_SCREEN);
  const hiddenCount = ordered.length - shown.length;
  return [
    ...renderTable(shown, createAgentColumns(report, context), context, (agent) => renderAgentDetails(agent, context)),
    ...(hiddenCount > 0
      ? [context.colorize('dim', `… and ${formatCount(hiddenCount, 'more agent')}: --json has them all`)]
      : []),
  ];
}

const isEnded = ({ phase }: Agent): boolean => phase.kind === 'ended';

function createAgentColumns(
  { run, observedStatus, history }: StatusReport,
  { now }: RenderContext,
): readonly Column<Agent>[] {
  const live = isLive(observedStatus);
  const turnsMs = ({ id, phase }: Agent): number =>
    (history.agents.get(id)?.turnsMs ?? 0) + (live && phase.kind === 'running' ? now - phase.turn.startedAt : 0);
  return [
    { title: 'AGENT', cell: ({ id }) => id },
    { title: 'STATE', cell: ({ state }) => state, style: () => 'bold' },
    { title: 'DOING', cell: (agent) => describePhase(agent, live, now), style: getPhaseStyle },
    { title: 'TIME', cell: (agent) => formatDuration(turnsMs(agent)), align: 'right' },
    ...(run.ledger.spentMicros === 0 ? [] : [{ title: 'COST', cell: formatAgentCost, align: 'right' } as const]),
  ];
}

const formatAgentCost = ({ costMicros }: Agent): string => formatDollars(costMicros);

/** Describes what an agent is doing. In a run that no process drives it does nothing, whatever its phase says. */
function describePhase({ phase }: Agent, live: boolean, now: number): string {
  switch (phase.kind) {
    case 'ready':
      return live ? 'waits for its turn' : 'to go on here';
    case 'running':
      return live ? `running since ${formatClock(phase.turn.startedAt, now)}` : 'was under way';
    case 'sleeping':
      if (!live) return 'to be tried again';
      return `${phase.why === 'retry' ? 'tries again at' : 'sleeps until'} ${formatClock(phase.untilMs, now)}`;
    case 'withheld':
      return 'answered, not followed';
    case 'limited':
      return 'max_visits reached';
    default:
      return phase.kind;
  }
}

const PHASE_STYLES: Partial<Record<Agent['phase']['kind'], TextStyle>> = {
  running: 'green',
  sleeping: 'yellow',
  withheld: 'yellow',
  limited: 'yellow',
  paused: 'yellow',
  failed: 'red',
  ended: 'dim',
};

const getPhaseStyle = ({ phase }: Agent): TextStyle | null => PHASE_STYLES[phase.kind] ?? null;

/** Renders the callers and the session of an agent, or the beginning of its result if it has ended. */
function renderAgentDetails(agent: Agent, { columns, colorize }: RenderContext): readonly string[] {
  const width = Math.min(columns, MAX_RESULT_COLUMNS);
  const { phase, stack } = agent;
  if (phase.kind === 'ended') return [colorize('dim', shorten(`  = ${sanitizeLine(phase.result)}`, width))];
  const session = getSessionId(agent);
  const returnStates = stack.map(({ state }) => state).toReversed();
  return [
    ...(returnStates.length === 0 ? [] : [`  returns to ${returnStates.join(', then ')}`]),
    ...(session === null ? [] : [`  session ${session}`]),
  ].map((line) => colorize('dim', line));
}
