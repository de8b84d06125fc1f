import { formatClock, formatCount, formatDollars } from '../../format.ts';
import { sanitizeLine } from '../../sanitize.ts';
import { createColorizer } from '../../text-style.ts';
import { padToWidth, shorten, widthOf, wrapText } from '../../text-width.ts';
import type { ScreenSize } from '../terminal.ts';
import { type AgentGroups, groupAgents, type StateCounts } from './agent-groups.ts';
import { type LiveContext, renderAgentLines } from './agent-lines.ts';
import { INITIAL_CONTROLS, KEYS_HELP, type ScrollRange, type ViewControls } from './controls.ts';
import { renderFooter } from './footer.ts';
import type { PanelView } from './talk-panel.ts';
import { renderTalkPanel } from './talk-panel-lines.ts';
import type { LiveView } from './view.ts';

/** The lines of the live block, and how far they can be scrolled. */
interface LiveLayout {
  readonly lines: readonly string[];
  readonly range: ScrollRange;
}

/** The user's view settings, and a short remark next to the run's name. */
export interface ViewChoice extends ViewControls {
  readonly remark: string;
  /** The panel in which people talk with agents, if it is open. */
  readonly panel?: PanelView | null;
  /** True if questions can be answered here at all. */
  readonly canAnswer?: boolean;
}

const NO_CHOICE: ViewChoice = { ...INITIAL_CONTROLS, remark: '' };

/** The live block for a screen of this size: never more lines than it has rows, and none as wide as the screen. */
export function layoutLiveView(
  view: LiveView,
  now: number,
  { columns, rows, color }: ScreenSize,
  choice: ViewChoice = NO_CHOICE,
): LiveLayout {
  if (view.worked.period === null) return { lines: [], range: NO_RANGE };
  // A full line would leave the cursor between two rows.
  const context: LiveContext = { now, columns: Math.max(1, columns - 1), colorize: createColorizer(color), color };
  const groups = groupAgents(view);
  const { panel = null, canAnswer = false } = choice;
  const footer = [
    ...renderFooter(view, groups, context, panel === null ? canAnswer : null),
    ...(choice.showsHelp ? renderHelp(context) : []),
  ];
  const head = rows < FEW_ROWS ? [] : [renderRule(view, choice.remark, context)];
  const room = Math.max(0, rows - Math.min(ROWS_FOR_HISTORY, Math.floor(rows / 4)) - head.length - footer.length);
  const { lines: body, range } =
    panel !== null
      ? { lines: renderTalkPanel(panel, room, context), range: NO_RANGE }
      : choice.isFolded
        ? renderScrolled(groups.states, choice.offset, room, context, (states) => renderStateLines(states, context))
        : renderAgents(groups, choice.offset, room, context);
  const lines = [...head, ...body, ...footer]
    .slice(-rows)
    .map((line) => (widthOf(line) > context.columns ? shorten(sanitizeLine(line), context.columns) : line));
  return { lines, range };
}

/** The title of the window; empty before the run has started. */
export function formatWindowTitle(view: LiveView, now: number): string {
  if (view.name === '') return '';
  const { live, asking } = groupAgents(view);
  const limit = live.find(({ wait }) => wait?.why === 'usage_limit')?.wait;
  const [only, second] = live;
  const activity =
    view.stop !== null || view.interrupts > 0
      ? 'stopping'
      : limit
        ? `waiting until ${formatClock(limit.untilMs, now)}`
        : asking.length > 0 && asking.length === live.length
          ? 'waiting for an answer'
          : second === undefined
            ? (only?.state ?? 'ending')
            : formatCount(live.length, 'agent');
  return sanitizeLine(`raymond: ${view.name} — ${activity} ${formatDollars(view.spentMicros)}`);
}

const NO_RANGE: ScrollRange = { lastOffset: 0, page: 1 };
const FEW_ROWS = 8;
const ROWS_FOR_HISTORY = 6;

/**
 * A line for each agent, the busy ones first. If they are too many, there are counts for each state above them, and as
 * many agents as fit: only these are laid out.
 */
function renderAgents(groups: AgentGroups, offset: number, room: number, context: LiveContext): LiveLayout {
  const { live, traffic, states } = groups;
  const maxStates = live.length <= room ? 0 : Math.floor(room / 3);
  const counted = states.length <= maxStates ? states : pickFullest(states, Math.max(0, maxStates - 1));
  const more = maxStates > 0 && states.length > counted.length ? states.length - counted.length : 0;
  const head = [
    ...renderStateLines(counted, context),
    ...(more > 0 ? [context.colorize('dim', `  … ${formatCount(more, 'more state')}`)] : []),
  ];
  const { lines, range } = renderScrolled(live, offset, room - head.length, context, (agents) =>
    renderAgentLines(agents, traffic, context),
  );
  return { lines: [...head, ...lines], range };
}

/** The states with the most agents that continue, in their own order. */
function pickFullest(states: readonly StateCounts[], count: number): readonly StateCounts[] {
  const fullest = new Set(states.toSorted((a, b) => b.running + b.waiting - a.running - a.waiting).slice(0, count));
  return states.filter((state) => fullest.has(state));
}

/** The part of a list that is in view, and a line about the rest if there is any. */
function renderScrolled<Item>(
  items: readonly Item[],
  offset: number,
  room: number,
  { colorize }: LiveContext,
  renderItems: (items: readonly Item[]) => readonly string[],
): LiveLayout {
  if (items.length <= room) return { lines: renderItems(items), range: { lastOffset: 0, page: Math.max(1, room) } };
  if (room <= 0) return { lines: [], range: { lastOffset: 0, page: 1 } };
  const page = room - 1;
  const lastOffset = items.length - page;
  const above = Math.min(offset, lastOffset);
  const below = items.length - above - page;
  const hidden = [above > 0 ? `↑ ${above} more` : '', below > 0 ? `↓ ${below} more` : ''];
  const rest = colorize('dim', hidden.filter((part) => part !== '').join('   '));
  return { lines: [...renderItems(items.slice(above, above + page)), rest], range: { lastOffset, page } };
}

const renderHelp = ({ columns, colorize }: LiveContext): readonly string[] =>
  wrapText(KEYS_HELP.join(' · '), columns).map((line) => colorize('dim', line));

/** The line above the block, with the name of the run and a remark at its end. */
function renderRule({ run, name }: LiveView, remark: string, { columns, colorize }: LiveContext): string {
  const end = remark === '' ? '' : ` ${shorten(remark, Math.max(0, columns - 8))} ──`;
  const label = shorten(sanitizeLine(run || name), Math.max(0, columns - 6 - widthOf(end)));
  const line = '─'.repeat(Math.max(0, columns - widthOf(label) - 4 - widthOf(end)));
  return colorize('dim', `── ${label} ${line}${end}`);
}

const MAX_STATE_COLUMNS = 30;

/** A line for each state: how many agents are doing what in it. */
function renderStateLines(states: readonly StateCounts[], { columns, colorize }: LiveContext): readonly string[] {
  const names = states.map(({ state }) => shorten(sanitizeLine(state), Math.min(MAX_STATE_COLUMNS, columns / 2)));
  const width = Math.max(0, ...names.map(widthOf));
  return states.map((counts, at) => {
    const name = colorize('bold', padToWidth(names[at] ?? '', width));
    return `  ${name}  ${shorten(formatStateCounts(counts), Math.max(0, columns - width - 4))}`;
  });
}

/** `8 running, 54 waiting, 37 done`, without what there is none of. */
const formatStateCounts = ({ state: _, ...counts }: StateCounts): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
