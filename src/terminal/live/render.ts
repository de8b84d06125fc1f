import { formatClock, formatCount, formatDollars } from '../../events/format.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import { createColorizer } from '../../events/text-style.ts';
import { shorten, widthOf } from '../../events/text-width.ts';
import type { ScreenSize } from '../terminal.ts';
import { type LiveContext, renderAgentLines } from './agent-lines.ts';
import { renderFooter } from './footer.ts';
import type { AgentView, LiveView } from './view.ts';

/** The live block for a screen of this size: never more lines than it has rows, and none as wide as the screen. */
export function renderLiveView(view: LiveView, now: number, { columns, rows, color }: ScreenSize): readonly string[] {
  if (view.worked.period === null) return [];
  // A full line would leave the cursor between two rows.
  const context: LiveContext = { now, columns: Math.max(1, columns - 1), colorize: createColorizer(color) };
  const footer = renderFooter(view, context);
  const head = rows < FEW_ROWS ? [] : [renderRule(view, context)];
  const room = rows - Math.min(ROWS_FOR_HISTORY, Math.floor(rows / 4)) - head.length - footer.length;
  const lines = [...head, ...renderAgents(listShownAgents(view), Math.max(0, room), context), ...footer];
  return lines
    .slice(-rows)
    .map((line) => (widthOf(line) > context.columns ? shorten(sanitizeLine(line), context.columns) : line));
}

/** The title of the window; empty before the run has started. */
export function formatWindowTitle(view: LiveView, now: number): string {
  if (view.name === '') return '';
  const live = listShownAgents(view);
  const limit = live.find(({ wait }) => wait?.why === 'usage_limit')?.wait;
  const [only, second] = live;
  const activity =
    view.stop !== null || view.interrupts > 0
      ? 'stopping'
      : limit
        ? `waiting until ${formatClock(limit.untilMs, now)}`
        : second === undefined
          ? (only?.state ?? 'ending')
          : formatCount(live.length, 'agent');
  return sanitizeLine(`raymond: ${view.name} — ${activity} ${formatDollars(view.spentMicros)}`);
}

const FEW_ROWS = 8;
const ROWS_FOR_HISTORY = 6;
const PHASE_RANKS: readonly AgentView['phase'][] = ['running', 'sleeping', 'ready'];

/** The agents that go on; once the run stops, only those whose turn still runs. */
const listShownAgents = ({ agents, stop }: LiveView): readonly AgentView[] =>
  [...agents.values()].filter(({ phase }) => (stop === null ? PHASE_RANKS.includes(phase) : phase === 'running'));

/** All agents in the order of their start, or if they are too many, as many as fit, the busy ones first. */
function renderAgents(live: readonly AgentView[], room: number, context: LiveContext): readonly string[] {
  if (live.length <= room) return renderAgentLines(live, context);
  if (room === 0) return [];
  const ranked = live.toSorted((a, b) => PHASE_RANKS.indexOf(a.phase) - PHASE_RANKS.indexOf(b.phase));
  const [shown, rest] = [ranked.slice(0, room - 1), ranked.slice(room - 1)];
  return [...renderAgentLines(shown, context), context.colorize('dim', formatHiddenAgents(rest))];
}

function formatHiddenAgents(rest: readonly AgentView[]): string {
  const running = rest.filter(({ phase }) => phase === 'running').length;
  const waiting = rest.length - running;
  const parts = [running > 0 ? `${running} running` : '', waiting > 0 ? `${waiting} waiting` : ''];
  return `… ${rest.length} more: ${parts.filter((part) => part !== '').join(', ')}`;
}

/** The line above the block, with the name of the run. */
function renderRule({ run, name }: LiveView, { columns, colorize }: LiveContext): string {
  const label = shorten(sanitizeLine(run || name), Math.max(0, columns - 6));
  return colorize('dim', `── ${label} ${'─'.repeat(Math.max(0, columns - widthOf(label) - 4))}`);
}
