import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import { wrapped } from '../observers/fit.ts';
import { dyeFor, type Ink } from '../observers/ink.ts';
import { Painter } from '../observers/live/painter.ts';
import { render, titleOf } from '../observers/live/render.ts';
import type { Clock, Screen } from '../observers/live/screen.ts';
import { EMPTY_VIEW, viewAfter, viewSeeing } from '../observers/live/view.ts';
import { lineOf, linesAbout } from '../observers/words.ts';
import { isToldOtherwise, type Show } from './show.ts';

/** What goes on at the bottom of the screen, and what has happened above it. */
export function liveShow(screen: Screen, verbose: boolean, clock: Clock = CLOCK): Show {
  const dye = dyeFor(screen.colour);
  let view = EMPTY_VIEW;
  let interrupts = 0;
  /** What is not in the view yet: it is made once a frame. Of what agents do, only the latest counts. */
  let news: Event[] = [];
  const seen = new Map<string, Activity>();
  /** Whether the past is still being read, without which the news make no sense. */
  let reading = false;
  const painter = new Painter(screen, clock, (now, size) => {
    if (!reading) {
      view = { ...viewSeeing(viewAfter(view, news), seen.values()), interrupts };
      news = [];
      seen.clear();
    }
    return { lines: render(view, now, size), title: titleOf(view, now) };
  });
  const print = (text: string, ink?: Ink): void => {
    for (const line of text.split('\n').flatMap((one) => wrapped(one, screen.size().columns - 1))) {
      painter.print(ink === undefined ? line : dye(ink, line));
    }
  };
  const catchUp = (past: readonly Event[]): void => {
    news = [...past, ...news];
    reading = false;
    painter.touch();
  };
  return {
    observe(event) {
      const line = isToldOtherwise(event) || IN_BLOCK.has(event.kind) ? null : lineOf(event);
      if (line !== null) print(line, inkOf(event));
      news.push(event);
      painter.touch();
    },
    recall(past) {
      reading = true;
      past.then(catchUp, () => catchUp([]));
    },
    watch(activity) {
      if (verbose) for (const line of linesAbout(activity)) print(line, 'dim');
      seen.set(activity.agent, activity);
      painter.touch();
    },
    say: (line) => print(line, 'yellow'),
    interrupt(times) {
      interrupts = times;
      painter.touch();
    },
    close: () => painter.close(),
  };
}

/** What the block shows as long as it matters. */
const IN_BLOCK: ReadonlySet<Event['kind']> = new Set(['turn_started', 'agent_started']);

const INKS: Partial<Record<Event['kind'], Ink | undefined>> = {
  run_started: 'dim',
  run_resumed: 'dim',
  agent_resumed: 'dim',
  agent_failed: 'red',
  transition: undefined,
};

/** Whatever is neither plain progress nor a failure is a warning. */
const inkOf = ({ kind }: Event): Ink | undefined => (kind in INKS ? INKS[kind] : 'yellow');

const CLOCK: Clock = {
  now: Date.now,
  after(ms, act) {
    const timer = setTimeout(act, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, act) {
    const timer = setInterval(act, ms).unref();
    return () => clearInterval(timer);
  },
};
