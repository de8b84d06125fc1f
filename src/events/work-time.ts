import type { Event } from '../core/event.ts';

/** The time that a run has been at work, in periods from a start or resume to their end; the time between does not count. */
export interface WorkTime {
  /** In periods that are over, and in turns that went on after a crash. */
  readonly ms: number;
  /** When the present period began and when its last event was; null between periods. */
  readonly period: { readonly since: number; readonly lastAt: number } | null;
  /** The times that do not count: each from a crash to the next resume. */
  readonly gaps: readonly Gap[];
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The time at work before the first event. */
export const NO_WORK_TIME: WorkTime = { ms: 0, period: null, gaps: [] };

/** The time at work including this event. */
export function updateWorkTime(worked: WorkTime, event: Event): WorkTime {
  const { kind, at } = event;
  const { period, gaps } = worked;
  switch (kind) {
    case 'run_started':
    case 'run_resumed': {
      // A period without an end was cut off by a crash: it counts up to its last event.
      const from = period?.lastAt ?? at;
      const gap = from < at ? [{ from, to: at }] : [];
      return { ms: computeWorkMs(worked, from), period: { since: at, lastAt: at }, gaps: [...gaps, ...gap] };
    }
    case 'run_ended':
      return { ms: computeWorkMs(worked, at), period: null, gaps };
    default: {
      const updated = kind === 'turn_ended' ? fillGaps(worked, at - event.durationMs, at) : worked;
      return period === null ? updated : { ...updated, period: { ...period, lastAt: Math.max(period.lastAt, at) } };
    }
  }
}

/** The time at work until now. */
export const computeWorkMs = ({ ms, period }: WorkTime, now: number): number =>
  ms + (period === null ? 0 : Math.max(0, now - period.since));

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
