import type { Doing } from '../../core/activity.ts';
import { isPrompt, stem } from '../../core/names.ts';
import { padded, shorten, widthOf } from '../fit.ts';
import { oneLine } from '../harmless.ts';
import type { Dye, Ink } from '../ink.ts';
import { clock, dollars, duration } from '../words.ts';
import type { AgentView } from './view.ts';

/** What agents are drawn with. */
export interface Pen {
  readonly now: number;
  readonly columns: number;
  readonly dye: Dye;
}

/** One line for each agent: who, where, what it is doing, for how long, for how much. */
export function agentLines(agents: readonly AgentView[], pen: Pen): readonly string[] {
  const named = agents.map((agent) => {
    const { id, state } = agent;
    return { ...agent, id: oneLine(id), label: oneLine(isNarrow(pen.columns) ? stem(state) : state) };
  });
  const widths = widthsOf(named, pen);
  return named.map((agent) => agentLine(agent, widths, pen));
}

/** An agent and what its state is called here. */
interface Named extends AgentView {
  readonly label: string;
}

interface Widths {
  readonly id: number;
  readonly state: number;
  readonly doing: number;
  readonly time: number;
  readonly cost: number;
}

/** Names are shortened before there is less room than this to say what an agent does. */
const LEAST_DOING = 10;

/** How wide each column is: what is being done gets all that the others leave. */
function widthsOf(agents: readonly Named[], { columns, now }: Pen): Widths {
  const widest = (show: (agent: Named) => string): number => Math.max(0, ...agents.map((one) => widthOf(show(one))));
  const time = widest((agent) => timeOf(agent, now));
  const cost = agents.some(({ costMicros }) => costMicros > 0) ? widest(costOf) : 0;
  const gaps = 2 + (time > 0 ? 1 : 0) + (cost > 0 ? 1 : 0);
  const room = Math.max(0, columns - 2 - time - cost - gaps * gapOf(columns).length);
  const wanted = { id: widest(({ id }) => id), state: widest(({ label }) => label) };
  const names = Math.max(0, room - Math.max(LEAST_DOING, Math.floor(room * 0.4)));
  // Who needs less than half leaves the rest to the other.
  const id = Math.min(wanted.id, Math.max(Math.ceil(names / 2), names - wanted.state));
  const state = Math.min(wanted.state, names - id);
  return { id, state, doing: room - id - state, time, cost };
}

/** Columns stand further apart where there is room. */
const gapOf = (columns: number): string => (isNarrow(columns) ? ' ' : '  ');

const isNarrow = (columns: number): boolean => columns < 60;

function agentLine(agent: Named, widths: Widths, { now, columns, dye }: Pen): string {
  const { sign, ink } = markOf(agent, now);
  const doing = doingOf(agent, now, widths.doing);
  const cells = [
    `${dye(ink, sign)} ${padded(shorten(agent.id, widths.id, 'end'), widths.id)}`,
    dye('bold', padded(shorten(agent.label, widths.state), widths.state)),
    padded(agent.doing === null ? dye('dim', doing) : doing, widths.doing),
    ...(widths.time > 0 ? [dye('dim', padded(timeOf(agent, now), widths.time, 'left'))] : []),
    ...(widths.cost > 0 ? [padded(costOf(agent), widths.cost, 'left')] : []),
  ];
  return cells.join(gapOf(columns)).trimEnd();
}

const SPINNER = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

/** A sign that moves once a second while something goes on. */
function markOf({ phase }: AgentView, now: number): { readonly sign: string; readonly ink: Ink } {
  if (phase === 'running') return { sign: SPINNER[Math.floor(now / 1000) % SPINNER.length] ?? '', ink: 'cyan' };
  return phase === 'sleeping' ? { sign: '~', ink: 'yellow' } : { sign: '·', ink: 'dim' };
}

const timeOf = ({ since }: AgentView, now: number): string => (since === null ? '' : duration(now - since));

const costOf = ({ costMicros }: AgentView): string => (costMicros === 0 ? '' : dollars(costMicros));

/** Enough to fill any screen. */
const MOST_SHOWN = 500;

function doingOf({ phase, state, doing, wait }: AgentView, now: number, width: number): string {
  if (phase === 'running') {
    if (doing === null) return shorten(isPrompt(state) ? 'thinking' : 'running', width);
    return doing.kind === 'uses' ? toolUse(doing, width) : shorten(firstLine(doing.text), width);
  }
  if (wait === null) return shorten('waiting', width);
  if (wait.why === 'usage_limit') return shorten(`usage limit until ${clock(wait.untilMs, now)}`, width);
  return shorten(`again in ${duration(wait.untilMs - now)}: ${firstLine(wait.message)}`, width);
}

function toolUse({ tool, detail }: Extract<Doing, { kind: 'uses' }>, width: number): string {
  const [name, what] = [tool, detail].map((text) => oneLine(text.slice(0, MOST_SHOWN)));
  const left = width - widthOf(`${name} `);
  return shorten(`${name} ${/^\S*\/\S*$/.test(what ?? '') ? pathIn(what ?? '', left) : what}`.trimEnd(), width);
}

/** The end of a path tells more than its beginning, and the beginning of a file's name more than its end. */
function pathIn(path: string, width: number): string {
  const file = path.slice(path.lastIndexOf('/') + 1);
  return widthOf(file) + 2 <= width ? shorten(path, width, 'end') : file;
}

const firstLine = (text: string): string => oneLine(text.trimStart().split('\n', 1)[0]?.slice(0, MOST_SHOWN) ?? '');
