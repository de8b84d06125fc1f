import type { Event } from '../core/run/event.ts';

/**
 * The time that a run has been at work, in periods from a start or resume to their end. Neither the time between them
 * counts nor the time in which it only waits for people.
 */
export interface WorkTime {
  /** In periods that are over, and in turns that continued after a crash. */
  readonly ms: number;
  /** When the present period began and when its last event was; null between periods. */
  readonly period: { readonly since: number; readonly lastAt: number } | null;
  /** The times that do not count: each from a crash to the next resume. */
  readonly gaps: readonly Gap[];
  /** The agents that have a turn, and those that ask. */
  readonly busy: readonly string[];
  readonly asking: readonly string[];
  /** Since when agents ask and none has a turn; null at other times. */
  readonly waitingSince: number | null;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The time at work before the first event. */
export const NO_WORK_TIME: WorkTime = { ms: 0, period: null, gaps: [], busy: [], asking: [], waitingSince: null };

/** The time at work including this event. */
export const updateWorkTime = (worked: WorkTime, event: Event): WorkTime =>
  updateWaiting(updateAgents(updatePeriod(worked, event), event), event.at);

function updatePeriod(worked: WorkTime, event: Event): WorkTime {
  const { kind, at } = event;
  const { period, gaps } = worked;
  switch (kind) {
    case 'run_started':
    case 'run_resumed': {
      // A period without an end was cut off by a crash: it counts up to its last event.
      const from = period?.lastAt ?? at;
      const gap = from < at ? [{ from, to: at }] : [];
      return { ...endPeriod(worked, from), period: { since: at, lastAt: at }, gaps: [...gaps, ...gap] };
    }
    case 'run_ended':
      return endPeriod(worked, at);
    default: {
      const updated = kind === 'turn_ended' ? fillGaps(worked, at - event.durationMs, at) : worked;
      return period === null ? updated : { ...updated, period: { ...period, lastAt: Math.max(period.lastAt, at) } };
    }
  }
}

const endPeriod = (worked: WorkTime, at: number): WorkTime => ({
  ...worked,
  ms: computeWorkMs(worked, at),
  period: null,
  waitingSince: null,
});

function updateAgents(worked: WorkTime, event: Event): WorkTime {
  const { busy, asking } = worked;
  switch (event.kind) {
    case 'turn_started':
      return { ...worked, busy: [...without(busy, event.agent), event.agent] };
    case 'turn_ended':
      return { ...worked, busy: without(busy, event.agent) };
    case 'asked':
      return { ...worked, asking: [...without(asking, event.agent), event.agent] };
    case 'ask_answered':
    case 'ask_timed_out':
      return { ...worked, asking: without(asking, event.agent) };
    case 'agent_cancelled':
    case 'agent_failed':
      return { ...worked, busy: without(busy, event.agent), asking: without(asking, event.agent) };
    default:
      return worked;
  }
}

const without = (agents: readonly string[], agent: string): readonly string[] =>
  agents.includes(agent) ? agents.filter((each) => each !== agent) : agents;

function updateWaiting(worked: WorkTime, at: number): WorkTime {
  const { ms, period, busy, asking, waitingSince } = worked;
  const isWaiting = period !== null && asking.length > 0 && busy.length === 0;
  if (isWaiting === (waitingSince !== null)) return worked;
  if (waitingSince === null) return { ...worked, waitingSince: at };
  return { ...worked, ms: ms - Math.max(0, at - waitingSince), waitingSince: null };
}

/** The time at work until now. */
export const computeWorkMs = ({ ms, period, waitingSince }: WorkTime, now: number): number =>
  ms + (period === null ? 0 : Math.max(0, Math.min(now, waitingSince ?? now) - period.since));

/** Counts the part of each gap in which a turn that outlived a crash was still at work. */
function fillGaps(worked: WorkTime, since: number, until: number): WorkTime {
  let { ms } = worked;
  const gaps = worked.gaps.flatMap((gap) => {
    if (since > gap.from || until <= gap.from) return [gap];
    const end = Math.min(until, gap.to);
    ms += end - gap.from;
    return end < gap.to ? [{ from: end, to: gap.to }] : [];
  });
  return { ...worked, ms, gaps };
}
