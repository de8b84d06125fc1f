import type { Event } from '../core/event.ts';

/** How long a run has been at work, all its lives together; the time between them does not count. */
export interface WorkTime {
  /** In lives that are over, and in turns that went on after them. */
  readonly ms: number;
  /** When the present life began and when it was last heard of; null between lives. */
  readonly life: { readonly since: number; readonly lastAt: number } | null;
  /** The times that do not count: each between a life that was cut off and the next. */
  readonly gaps: readonly Gap[];
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

export const NO_WORK_TIME: WorkTime = { ms: 0, life: null, gaps: [] };

/** The time at work once this event is known. */
export function updateWorkTime(worked: WorkTime, event: Event): WorkTime {
  const { kind, at } = event;
  const { life, gaps } = worked;
  switch (kind) {
    case 'run_started':
    case 'run_resumed': {
      // A life without an end was cut off by a crash: it counts up to the last that was heard of it.
      const from = life?.lastAt ?? at;
      const gap = from < at ? [{ from, to: at }] : [];
      return { ms: computeWorkMs(worked, from), life: { since: at, lastAt: at }, gaps: [...gaps, ...gap] };
    }
    case 'run_ended':
      return { ms: computeWorkMs(worked, at), life: null, gaps };
    default: {
      const updated = kind === 'turn_ended' ? fillGaps(worked, at - event.durationMs, at) : worked;
      return life === null ? updated : { ...updated, life: { ...life, lastAt: Math.max(life.lastAt, at) } };
    }
  }
}

/** The time at work by now. */
export const computeWorkMs = ({ ms, life }: WorkTime, now: number): number =>
  ms + (life === null ? 0 : Math.max(0, now - life.since));

/** A turn that outlived its life was at work in the gap, from the gap's beginning until the turn ended. */
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
