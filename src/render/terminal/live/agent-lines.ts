import type { Doing } from '../../../core/run/activity.ts';
import { findTurnWait, type TurnTraffic, type TurnWait } from '../../../core/turns/turn-wait.ts';
import { isPrompt, stem } from '../../../language/state-names.ts';
import {
  formatApiRetry,
  formatClock,
  formatDollars,
  formatDuration,
  formatJoinWait,
  TURN_WAIT_WORDS,
} from '../../format.ts';
import { sanitizeLine } from '../../sanitize.ts';
import type { Colorizer, TextStyle } from '../../text-style.ts';
import { padToWidth, shorten, widthOf } from '../../text-width.ts';
import type { AgentView } from './view.ts';

/** The time, width and colors of one frame. */
export interface LiveContext {
  readonly now: number;
  readonly columns: number;
  readonly colorize: Colorizer;
  readonly color: boolean;
}

/** A line for each agent: its id, its state, what it is doing, for how long, at what cost. */
export function renderAgentLines(
  agents: readonly AgentView[],
  traffic: TurnTraffic,
  context: LiveContext,
): readonly string[] {
  const shown = agents.map((agent) => {
    const { state, evaluator } = agent;
    const turnWait = agent.phase === 'ready' ? findTurnWait(state, traffic) : null;
    const nameOf = isNarrow(context.columns) ? stem : (file: string) => file;
    const shownState = evaluator === null ? nameOf(state) : `${nameOf(state)} (${nameOf(evaluator)})`;
    return { ...agent, turnWait, shownState: sanitizeLine(shownState) };
  });
  const widths = computeWidths(shown, context);
  return shown.map((agent) => renderAgentLine(agent, widths, context));
}

/** An agent with what is shown of it. */
interface ShownAgent extends AgentView {
  /** The reason why it waits for its turn, if it does. */
  readonly turnWait: TurnWait | null;
  readonly shownState: string;
}

interface ColumnWidths {
  readonly label: number;
  readonly state: number;
  readonly doing: number;
  readonly time: number;
  readonly cost: number;
}

/** Names are shortened before the column of what an agent is doing gets narrower than this. */
const MIN_DOING_COLUMNS = 10;

/** The width of each column: what an agent is doing gets all that the others leave. */
function computeWidths(agents: readonly ShownAgent[], { columns, now }: LiveContext): ColumnWidths {
  const widest = (cell: (agent: ShownAgent) => string): number =>
    Math.max(0, ...agents.map((one) => widthOf(cell(one))));
  const time = widest((agent) => formatTurnTime(agent, now));
  const cost = agents.some(({ costMicros }) => costMicros > 0) ? widest(formatCost) : 0;
  const gaps = 2 + (time > 0 ? 1 : 0) + (cost > 0 ? 1 : 0);
  const room = Math.max(0, columns - 2 - time - cost - gaps * getColumnGap(columns).length);
  const preferred = { label: widest(({ label }) => label), state: widest(({ shownState }) => shownState) };
  const names = Math.max(0, room - Math.max(MIN_DOING_COLUMNS, Math.floor(room * 0.4)));
  // Each gets half, and what the other does not need of its half.
  const label = Math.min(preferred.label, Math.max(Math.ceil(names / 2), names - preferred.state));
  const state = Math.min(preferred.state, names - label);
  return { label, state, doing: room - label - state, time, cost };
}

/** The gap between columns: wider where there is room. */
const getColumnGap = (columns: number): string => (isNarrow(columns) ? ' ' : '  ');

const isNarrow = (columns: number): boolean => columns < 60;

function renderAgentLine(agent: ShownAgent, widths: ColumnWidths, { now, columns, colorize }: LiveContext): string {
  const { sign, style } = getPhaseMark(agent, now);
  const doing = formatDoing(agent, now, widths.doing);
  const cells = [
    `${colorize(style, sign)} ${padToWidth(shortenLabel(agent.label, widths.label), widths.label)}`,
    colorize('bold', padToWidth(shorten(agent.shownState, widths.state), widths.state)),
    padToWidth(agent.doing === null ? colorize('dim', doing) : doing, widths.doing),
    ...(widths.time > 0 ? [colorize('dim', padToWidth(formatTurnTime(agent, now), widths.time, 'left'))] : []),
    ...(widths.cost > 0 ? [padToWidth(formatCost(agent), widths.cost, 'left')] : []),
  ];
  return cells.join(getColumnGap(columns)).trimEnd();
}

/** Keeps the end of a label, which tells agents apart. If that was cut before, their ids do. */
function shortenLabel(label: string, width: number): string {
  if (!label.endsWith('…')) return shorten(label, width, 'end');
  const [id = ''] = label.split(' ', 1);
  return widthOf(id) <= width ? shorten(label, width) : shorten(id, width, 'end');
}

const SPINNER = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

/** The sign before an agent: a spinner that moves once a second while its turn runs. */
function getPhaseMark({ phase }: AgentView, now: number): { readonly sign: string; readonly style: TextStyle } {
  if (phase === 'running') return { sign: SPINNER[Math.floor(now / 1000) % SPINNER.length] ?? '', style: 'cyan' };
  if (phase === 'cancelling') return { sign: '×', style: 'yellow' };
  if (phase === 'asking') return { sign: '?', style: 'yellow' };
  return phase === 'sleeping' || phase === 'joining' ? { sign: '~', style: 'yellow' } : { sign: '·', style: 'dim' };
}

const formatTurnTime = ({ since }: AgentView, now: number): string =>
  since === null ? '' : formatDuration(now - since);

const formatCost = ({ costMicros }: AgentView): string => (costMicros === 0 ? '' : formatDollars(costMicros));

/** More than fits on any screen. */
const MAX_SHOWN_CHARS = 500;

function formatDoing(
  { phase, state, evaluator, doing, wait, join, question, worktree, turnWait }: ShownAgent,
  now: number,
  width: number,
): string {
  if (phase === 'running') {
    if (doing === null) return shorten(isPrompt(evaluator ?? state) ? 'thinking' : 'running', width);
    if (doing.kind === 'uses') return formatToolUse(doing, width);
    if (doing.kind !== 'retries') return shorten(firstLine(doing.text), width);
    return shorten(sanitizeLine(formatApiRetry(doing, doing.untilMs === null ? null : doing.untilMs - now)), width);
  }
  if (phase === 'queued') return shorten('queued', width);
  if (phase === 'cancelling') return shorten('being ended', width);
  if (question !== null) return shorten(`asks: ${firstLine(question.text)}`, width);
  if (worktree !== null) return shorten(worktree === 'opening' ? 'gets a worktree' : 'leaves its worktree', width);
  if (join !== null) return shorten(formatJoinWait(join, now), width);
  if (wait === null) return shorten(turnWait === null ? 'waiting' : `waiting for ${TURN_WAIT_WORDS[turnWait]}`, width);
  if (wait.why === 'usage_limit')
    return shorten(`until ${formatClock(wait.untilMs, now)}: ${firstLine(wait.message)}`, width);
  return shorten(`again in ${formatDuration(wait.untilMs - now)}: ${firstLine(wait.message)}`, width);
}

function formatToolUse({ tool, detail }: Extract<Doing, { kind: 'uses' }>, width: number): string {
  const [name, argument] = [tool, detail].map((text) => sanitizeLine(text.slice(0, MAX_SHOWN_CHARS)));
  const left = width - widthOf(`${name} `);
  return shorten(
    `${name} ${/^\S*\/\S*$/.test(argument ?? '') ? shortenPath(argument ?? '', left) : argument}`.trimEnd(),
    width,
  );
}

/** Keeps the end of a path, or if not even the file's name fits, the beginning of that name. */
function shortenPath(path: string, width: number): string {
  const file = path.slice(path.lastIndexOf('/') + 1);
  return widthOf(file) + 2 <= width ? shorten(path, width, 'end') : file;
}

const firstLine = (text: string): string =>
  sanitizeLine(text.trimStart().split('\n', 1)[0]?.slice(0, MAX_SHOWN_CHARS) ?? '');
