import type { Event } from '../core/event.ts';

/** How long a run has been at work, all its lives together; the time between them does not count. */
export interface Worked {
  /** In lives that are over. */
  readonly ms: number;
  /** When the present life began and when it was last heard of; null between lives. */
  readonly life: { readonly since: number; readonly lastAt: number } | null;
}

export const NEVER_WORKED: Worked = { ms: 0, life: null };

/** The time at work once this event is known. */
export function workedAfter(worked: Worked, { kind, at }: Event): Worked {
  switch (kind) {
    case 'run_started':
    case 'run_resumed':
      // A life without an end was cut off by a crash: it counts up to the last that was heard of it.
      return { ms: workedMs(worked, worked.life?.lastAt ?? at), life: { since: at, lastAt: at } };
    case 'run_ended':
      return { ms: workedMs(worked, at), life: null };
    default:
      return worked.life === null ? worked : { ...worked, life: { ...worked.life, lastAt: at } };
  }
}

/** The time at work by now. */
export const workedMs = ({ ms, life }: Worked, now: number): number =>
  ms + (life === null ? 0 : Math.max(0, now - life.since));
