import type { StatusReport } from '../../app/status.ts';
import { type Agent, recordedTurn, turnFileOf } from '../../core/run/agent.ts';
import { archivedCount } from '../../core/run/archive.ts';
import type { Run } from '../../core/run/run.ts';
import { isLive } from '../../core/run/status.ts';
import { countTokens, NO_TOKENS } from '../../core/run/tokens.ts';
import { findTurnWait, type TurnTraffic, type TurnWait, turnTrafficOf } from '../../core/turns/turn-wait.ts';
import { getSessionId } from '../../documents/run-document.ts';
import { formatAgentLabel } from '../../render/agent-labels.ts';
import {
  formatClock,
  formatCount,
  formatDollars,
  formatDuration,
  formatJoinWait,
  formatShortCount,
  TURN_WAIT_WORDS,
} from '../../render/format.ts';
import { sanitizeShortLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import type { RenderContext } from '../../render/terminal/terminal.ts';
import type { TextStyle } from '../../render/text-style.ts';
import { shorten, wrapText } from '../../render/text-width.ts';

const MAX_AGENTS_ON_SCREEN = 30;
const MAX_RESULT_COLUMNS = 200;

/**
 * Renders the agents of a run with their states, activities, times and costs; those that have ended come last. Unless
 * `all` are wanted, a screen gets only the first of them.
 */
export function renderAgentTable(report: StatusReport, context: RenderContext, all: boolean): readonly string[] {
  const { agents } = report.run;
  const ordered = agents.toSorted((a, b) => Number(isEnded(a)) - Number(isEnded(b)));
  const isScreen = context.columns !== Number.POSITIVE_INFINITY;
  const shown = isScreen && !all ? ordered.slice(0, MAX_AGENTS_ON_SCREEN) : ordered;
  return [
    ...renderTable(shown, createAgentColumns(report, context), context, (agent) => renderAgentDetails(agent, context)),
    ...describeHiddenAgents(ordered.length - shown.length, archivedCount(report.run), all).flatMap((text) =>
      wrapText(text, context.columns).map((line) => context.colorize('dim', line)),
    ),
  ];
}

/** Says how many agents are not in the table, and how to see them. */
function describeHiddenAgents(hidden: number, archived: number, all: boolean): readonly string[] {
  if (all && archived > 0)
    return [`… and ${formatCount(archived, 'more agent')} with a result, whose steps are not in the journal any more`];
  if (hidden + archived === 0) return [];
  const ofThem = archived > 0 ? `, ${archived} of them archived` : '';
  const count =
    hidden === 0
      ? `${formatCount(archived, 'archived agent')} with a result`
      : `${formatCount(hidden + archived, 'more agent')}${ofThem}`;
  return [`… and ${count}: --all shows them`];
}

const isEnded = ({ phase }: Agent): boolean => phase.kind === 'ended' || phase.kind === 'cancelled';

function createAgentColumns(
  { run, observedStatus, history, queued = [] }: StatusReport,
  { now }: RenderContext,
): readonly Column<Agent>[] {
  const live = isLive(observedStatus);
  const traffic = live ? turnTrafficOf(run) : null;
  const turnsMs = ({ id, phase }: Agent): number => {
    const turn = live && !queued.includes(id) ? recordedTurn(phase) : null;
    return (history.agents.get(id)?.turnsMs ?? 0) + (turn === null ? 0 : now - turn.startedAt);
  };
  const formatAgentTokens = ({ id }: Agent): string =>
    formatShortCount(countTokens(history.agents.get(id)?.tokens ?? NO_TOKENS));
  return [
    { title: 'AGENT', cell: formatAgentLabel },
    { title: 'STATE', cell: formatAgentState, style: () => 'bold' },
    {
      title: 'DOING',
      cell: (agent) =>
        `${queued.includes(agent.id) ? 'queued' : describePhase(agent, traffic, now)}${describeUnheard(agent)}`,
      style: getPhaseStyle,
    },
    ...(hasSeveralNodes(run) ? [{ title: 'WORKER', cell: ({ node }: Agent) => node ?? '', spare: true } as const] : []),
    { title: 'TIME', cell: (agent) => formatDuration(turnsMs(agent)), align: 'right' },
    ...(countTokens(run.ledger.tokens) === 0
      ? []
      : [{ title: 'TOKENS', cell: formatAgentTokens, align: 'right', spare: true } as const]),
    ...(run.ledger.spentMicros === 0 ? [] : [{ title: 'COST', cell: formatAgentCost, align: 'right' } as const]),
  ];
}

/** True if the agents of a run are on several machines. */
const hasSeveralNodes = ({ agents }: Run): boolean => agents.some(({ node }) => node !== agents[0]?.node);

/** The state of an agent, and the evaluator of its answer if there is one. */
const formatAgentState = ({ state, evaluation }: Agent): string =>
  evaluation === null ? state : `${state} (${evaluation.file})`;

const formatAgentCost = ({ costMicros }: Agent): string => formatDollars(costMicros);

/** Describes what an agent is doing. In a run that no process drives it does nothing, whatever its phase says. */
function describePhase(agent: Agent, traffic: TurnTraffic | null, now: number): string {
  const { phase, joinedBy } = agent;
  const live = traffic !== null;
  switch (phase.kind) {
    case 'ready':
      return live ? describeTurnWait(findTurnWait(turnFileOf(agent), traffic)) : 'to continue here';
    case 'running':
      return live ? `running since ${formatClock(phase.turn.startedAt, now)}` : 'was under way';
    case 'sleeping':
      if (!live) return 'to be tried again';
      return `${phase.why === 'retry' ? 'tries again at' : 'sleeps until'} ${formatClock(phase.untilMs, now)}`;
    case 'asking':
      return `asks (${phase.ask})`;
    case 'withheld':
      return 'answered, not followed';
    case 'worktree':
      return phase.outcome === null ? 'gets a worktree' : 'leaves its worktree';
    case 'limited':
      return `max_visits reached${joinedBy === null ? '' : ', joined'}`;
    case 'joining':
      return phase.ending > 0 ? 'waits for cancelled workers to end' : formatJoinWait(phase, now);
    case 'cancelling':
      return live ? 'being ended' : 'to be ended';
    case 'cancelled':
      return `cancelled by ${phase.by}`;
    case 'failed':
      return joinedBy === null ? phase.kind : 'failed, joined';
    default:
      return phase.kind;
  }
}

/** The messages that an agent has not received yet. */
function describeUnheard({ messages }: Agent): string {
  const count = messages.filter(({ delivered }) => !delivered).length;
  return count === 0 ? '' : `, ${formatCount(count, 'message')} waiting`;
}

const describeTurnWait = (wait: TurnWait | null): string =>
  `waits for ${wait === null ? 'its turn' : TURN_WAIT_WORDS[wait]}`;

const PHASE_STYLES: Partial<Record<Agent['phase']['kind'], TextStyle>> = {
  running: 'green',
  sleeping: 'yellow',
  asking: 'cyan',
  withheld: 'yellow',
  limited: 'yellow',
  paused: 'yellow',
  cancelling: 'yellow',
  cancelled: 'dim',
  failed: 'red',
  ended: 'dim',
};

const getPhaseStyle = ({ phase }: Agent): TextStyle | null => PHASE_STYLES[phase.kind] ?? null;

/** Renders the callers and the session of an agent, or the beginning of its result if it has ended. */
function renderAgentDetails(agent: Agent, { columns, colorize }: RenderContext): readonly string[] {
  const width = Math.min(columns, MAX_RESULT_COLUMNS);
  const { phase, stack } = agent;
  if (phase.kind === 'ended')
    return [colorize('dim', shorten(`  = ${sanitizeShortLine(phase.result, MAX_RESULT_COLUMNS)}`, width))];
  const session = getSessionId(agent);
  const returnStates = stack.map(({ state }) => state).toReversed();
  return [
    ...(returnStates.length === 0 ? [] : [`  returns to ${returnStates.join(', then ')}`]),
    ...(session === null ? [] : [`  session ${session}`]),
  ].map((line) => colorize('dim', line));
}
