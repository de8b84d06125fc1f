import { shorten, widthOf } from '../fit.ts';
import { oneLine } from '../harmless.ts';
import { dyeFor } from '../ink.ts';
import { clock, counted, dollars } from '../words.ts';
import { agentLines, type Pen } from './agent-lines.ts';
import { footerLines } from './footer.ts';
import type { Size } from './screen.ts';
import type { AgentView, View } from './view.ts';

/** The live block for a screen of this size: never more lines than it has rows, and none as wide as the screen. */
export function render(view: View, now: number, { columns, rows, colour }: Size): readonly string[] {
  if (view.worked.life === null) return [];
  // A full line would leave the cursor between two rows.
  const pen: Pen = { now, columns: Math.max(1, columns - 1), dye: dyeFor(colour) };
  const footer = footerLines(view, pen);
  const head = rows < FEW_ROWS ? [] : [rule(view, pen)];
  const room = rows - Math.min(KEPT_FOR_HISTORY, Math.floor(rows / 4)) - head.length - footer.length;
  const lines = [...head, ...people(liveOf(view), Math.max(0, room), pen), ...footer];
  return lines.slice(-rows).map((line) => (widthOf(line) > pen.columns ? shorten(oneLine(line), pen.columns) : line));
}

/** What the title of the window says; nothing before the run has begun. */
export function titleOf(view: View, now: number): string {
  if (view.name === '') return '';
  const live = liveOf(view);
  const limit = live.find(({ wait }) => wait?.why === 'usage_limit')?.wait;
  const [only, second] = live;
  const where =
    view.stop !== null || view.interrupts > 0
      ? 'stopping'
      : limit
        ? `waiting until ${clock(limit.untilMs, now)}`
        : second === undefined
          ? (only?.state ?? 'ending')
          : counted(live.length, 'agent');
  return oneLine(`raymond: ${view.name} — ${where} ${dollars(view.spentMicros)}`);
}

const FEW_ROWS = 8;
const KEPT_FOR_HISTORY = 6;
const RANKS: readonly AgentView['phase'][] = ['running', 'sleeping', 'ready'];

/** The agents that go on. Once the run stops, only those whose turn comes to its end. */
const liveOf = ({ agents, stop }: View): readonly AgentView[] =>
  [...agents.values()].filter(({ phase }) => (stop === null ? RANKS.includes(phase) : phase === 'running'));

/** All agents in the order of their birth, or if they are too many, as many as there is room for, the busy ones first. */
function people(live: readonly AgentView[], room: number, pen: Pen): readonly string[] {
  if (live.length <= room) return agentLines(live, pen);
  if (room === 0) return [];
  const ranked = live.toSorted((a, b) => RANKS.indexOf(a.phase) - RANKS.indexOf(b.phase));
  const [shown, rest] = [ranked.slice(0, room - 1), ranked.slice(room - 1)];
  return [...agentLines(shown, pen), pen.dye('dim', more(rest))];
}

function more(rest: readonly AgentView[]): string {
  const running = rest.filter(({ phase }) => phase === 'running').length;
  const waiting = rest.length - running;
  const parts = [running > 0 ? `${running} running` : '', waiting > 0 ? `${waiting} waiting` : ''];
  return `… ${rest.length} more: ${parts.filter((part) => part !== '').join(', ')}`;
}

/** A line between what has happened and what goes on, with the name of the run. */
function rule({ run, name }: View, { columns, dye }: Pen): string {
  const label = shorten(oneLine(run || name), Math.max(0, columns - 6));
  return dye('dim', `── ${label} ${'─'.repeat(Math.max(0, columns - widthOf(label) - 4))}`);
}
