import type { Doing } from '../../core/activity.ts';
import { isPrompt, stem } from '../../core/state-names.ts';
import { formatClock, formatDollars, formatDuration } from '../../events/format.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import type { Colorizer, TextStyle } from '../../events/text-style.ts';
import { padToWidth, shorten, widthOf } from '../../events/text-width.ts';
import type { AgentView } from './view.ts';

/** The time, width and colors of one frame. */
export interface LiveContext {
  readonly now: number;
  readonly columns: number;
  readonly colorize: Colorizer;
}

/** A line for each agent: its id, its state, what it is doing, for how long, at what cost. */
export function renderAgentLines(agents: readonly AgentView[], context: LiveContext): readonly string[] {
  const labelled = agents.map((agent) => {
    const { id, state } = agent;
    return { ...agent, id: sanitizeLine(id), label: sanitizeLine(isNarrow(context.columns) ? stem(state) : state) };
  });
  const widths = computeWidths(labelled, context);
  return labelled.map((agent) => renderAgentLine(agent, widths, context));
}

/** An agent with the name that is shown for its state. */
interface LabelledAgent extends AgentView {
  readonly label: string;
}

interface ColumnWidths {
  readonly id: number;
  readonly state: number;
  readonly doing: number;
  readonly time: number;
  readonly cost: number;
}

/** Names are shortened before the column of what an agent is doing gets narrower than this. */
const MIN_DOING_COLUMNS = 10;

/** The width of each column: what an agent is doing gets all that the others leave. */
function computeWidths(agents: readonly LabelledAgent[], { columns, now }: LiveContext): ColumnWidths {
  const widest = (cell: (agent: LabelledAgent) => string): number =>
    Math.max(0, ...agents.map((one) => widthOf(cell(one))));
  const time = widest((agent) => formatTurnTime(agent, now));
  const cost = agents.some(({ costMicros }) => costMicros > 0) ? widest(formatCost) : 0;
  const gaps = 2 + (time > 0 ? 1 : 0) + (cost > 0 ? 1 : 0);
  const room = Math.max(0, columns - 2 - time - cost - gaps * getColumnGap(columns).length);
  const preferred = { id: widest(({ id }) => id), state: widest(({ label }) => label) };
  const names = Math.max(0, room - Math.max(MIN_DOING_COLUMNS, Math.floor(room * 0.4)));
  // Each gets half, and what the other does not need of its half.
  const id = Math.min(preferred.id, Math.max(Math.ceil(names / 2), names - preferred.state));
  const state = Math.min(preferred.state, names - id);
  return { id, state, doing: room - id - state, time, cost };
}

/** The gap between columns: wider where there is room. */
const getColumnGap = (columns: number): string => (isNarrow(columns) ? ' ' : '  ');

const isNarrow = (columns: number): boolean => columns < 60;

function renderAgentLine(agent: LabelledAgent, widths: ColumnWidths, { now, columns, colorize }: LiveContext): string {
  const { sign, style } = getPhaseMark(agent, now);
  const doing = formatDoing(agent, now, widths.doing);
  const cells = [
    `${colorize(style, sign)} ${padToWidth(shorten(agent.id, widths.id, 'end'), widths.id)}`,
    colorize('bold', padToWidth(shorten(agent.label, widths.state), widths.state)),
    padToWidth(agent.doing === null ? colorize('dim', doing) : doing, widths.doing),
    ...(widths.time > 0 ? [colorize('dim', padToWidth(formatTurnTime(agent, now), widths.time, 'left'))] : []),
    ...(widths.cost > 0 ? [padToWidth(formatCost(agent), widths.cost, 'left')] : []),
  ];
  return cells.join(getColumnGap(columns)).trimEnd();
}

const SPINNER = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

/** The sign before an agent: a spinner that moves once a second while its turn runs. */
function getPhaseMark({ phase }: AgentView, now: number): { readonly sign: string; readonly style: TextStyle } {
  if (phase === 'running') return { sign: SPINNER[Math.floor(now / 1000) % SPINNER.length] ?? '', style: 'cyan' };
  return phase === 'sleeping' ? { sign: '~', style: 'yellow' } : { sign: '·', style: 'dim' };
}

const formatTurnTime = ({ since }: AgentView, now: number): string =>
  since === null ? '' : formatDuration(now - since);

const formatCost = ({ costMicros }: AgentView): string => (costMicros === 0 ? '' : formatDollars(costMicros));

/** More than fits on any screen. */
const MAX_SHOWN_CHARS = 500;

function formatDoing({ phase, state, doing, wait }: AgentView, now: number, width: number): string {
  if (phase === 'running') {
    if (doing === null) return shorten(isPrompt(state) ? 'thinking' : 'running', width);
    return doing.kind === 'uses' ? formatToolUse(doing, width) : shorten(firstLine(doing.text), width);
  }
  if (wait === null) return shorten('waiting', width);
  if (wait.why === 'usage_limit') return shorten(`usage limit until ${formatClock(wait.untilMs, now)}`, width);
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
