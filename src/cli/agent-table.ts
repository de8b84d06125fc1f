import type { Agent } from '../core/agent.ts';
import { isLive } from '../core/standing.ts';
import { shorten } from '../observers/fit.ts';
import { oneLine } from '../observers/harmless.ts';
import type { Ink } from '../observers/ink.ts';
import { sessionOf } from '../observers/standing-document.ts';
import { clock, counted, dollars, duration } from '../observers/words.ts';
import type { StatusReport } from '../raymond/status.ts';
import type { Page } from './page.ts';
import { type Column, tableOf } from './table.ts';

const MOST_ON_A_SCREEN = 30;
const LONGEST_RESULT = 200;

/** The agents of a run: who, where, what it is doing, for how long, for how much. Those that have ended come last. */
export function agentTable(report: StatusReport, page: Page): readonly string[] {
  const { agents } = report.run;
  const ordered = agents.toSorted((a, b) => Number(isEnded(a)) - Number(isEnded(b)));
  const shown = page.columns === Number.POSITIVE_INFINITY ? ordered : ordered.slice(0, MOST_ON_A_SCREEN);
  const left = ordered.length - shown.length;
  return [
    ...tableOf(shown, columnsFor(report, page), page, (agent) => detailsOf(agent, page)),
    ...(left > 0 ? [page.dye('dim', `… and ${counted(left, 'more agent')}: --json has them all`)] : []),
  ];
}

const isEnded = ({ phase }: Agent): boolean => phase.kind === 'ended';

function columnsFor({ run, standing, history }: StatusReport, { now }: Page): readonly Column<Agent>[] {
  const live = isLive(standing);
  const turnsMs = ({ id, phase }: Agent): number =>
    (history.agents.get(id)?.turnsMs ?? 0) + (live && phase.kind === 'running' ? now - phase.turn.startedAt : 0);
  return [
    { title: 'AGENT', cell: ({ id }) => id },
    { title: 'STATE', cell: ({ state }) => state, ink: () => 'bold' },
    { title: 'DOING', cell: (agent) => doingOf(agent, live, now), ink: inkOf },
    { title: 'TIME', cell: (agent) => duration(turnsMs(agent)), align: 'right' },
    ...(run.ledger.spentMicros === 0 ? [] : [{ title: 'COST', cell: costOf, align: 'right' } as const]),
  ];
}

const costOf = ({ costMicros }: Agent): string => dollars(costMicros);

/** What an agent is doing. In a run that nobody drives it does nothing, whatever is on record. */
function doingOf({ phase }: Agent, live: boolean, now: number): string {
  switch (phase.kind) {
    case 'ready':
      return live ? 'waits for its turn' : 'to go on here';
    case 'running':
      return live ? `running since ${clock(phase.turn.startedAt, now)}` : 'was under way';
    case 'sleeping':
      if (!live) return 'to be tried again';
      return `${phase.why === 'retry' ? 'tries again at' : 'sleeps until'} ${clock(phase.untilMs, now)}`;
    case 'withheld':
      return 'answered, not followed';
    case 'limited':
      return 'max_visits reached';
    default:
      return phase.kind;
  }
}

const INKS: Partial<Record<Agent['phase']['kind'], Ink>> = {
  running: 'green',
  sleeping: 'yellow',
  withheld: 'yellow',
  limited: 'yellow',
  paused: 'yellow',
  failed: 'red',
  ended: 'dim',
};

const inkOf = ({ phase }: Agent): Ink | null => INKS[phase.kind] ?? null;

/** Where its result will go and which conversation it is in; of one that has ended, the beginning of its result. */
function detailsOf(agent: Agent, { columns, dye }: Page): readonly string[] {
  const width = Math.min(columns, LONGEST_RESULT);
  const { phase, stack } = agent;
  if (phase.kind === 'ended') return [dye('dim', shorten(`  = ${oneLine(phase.result)}`, width))];
  const session = sessionOf(agent);
  const returns = stack.map(({ state }) => state).toReversed();
  return [
    ...(returns.length === 0 ? [] : [`  returns to ${returns.join(', then ')}`]),
    ...(session === null ? [] : [`  session ${session}`]),
  ].map((line) => dye('dim', line));
}
