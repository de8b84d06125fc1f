import type { Activity } from '../../core/activity.ts';
import type { Event } from '../../core/event.ts';
import { formatActivity, formatEvent } from '../../events/format.ts';
import { createColorizer, type TextStyle } from '../../events/text-style.ts';
import { isReportedElsewhere, type Reporter } from '../reporter.ts';
import type { LiveClock, Screen } from '../terminal.ts';
import { wrapText } from '../text-width.ts';
import { Painter } from './painter.ts';
import { formatWindowTitle, renderLiveView } from './render.ts';
import { applyActivities, applyEvents, EMPTY_VIEW } from './view.ts';

/** What goes on at the bottom of the screen, and what has happened above it. */
export function createLiveReporter(screen: Screen, verbose: boolean, clock: LiveClock = SYSTEM_CLOCK): Reporter {
  const colorize = createColorizer(screen.colour);
  let view = EMPTY_VIEW;
  let interrupts = 0;
  /** What is not in the view yet: it is made once a frame. Of what agents do, only the latest counts. */
  let pendingEvents: Event[] = [];
  const latestActivities = new Map<string, Activity>();
  /** Whether the past is still being read, without which the news make no sense. */
  let isLoadingPast = false;
  const painter = new Painter(screen, clock, (now, size) => {
    if (!isLoadingPast) {
      view = { ...applyActivities(applyEvents(view, pendingEvents), latestActivities.values()), interrupts };
      pendingEvents = [];
      latestActivities.clear();
    }
    return { lines: renderLiveView(view, now, size), title: formatWindowTitle(view, now) };
  });
  const print = (text: string, style?: TextStyle): void => {
    for (const line of text.split('\n').flatMap((part) => wrapText(part, screen.size().columns - 1))) {
      painter.print(style === undefined ? line : colorize(style, line));
    }
  };
  const addPastEvents = (past: readonly Event[]): void => {
    pendingEvents = [...past, ...pendingEvents];
    isLoadingPast = false;
    painter.scheduleRepaint();
  };
  return {
    observe(event) {
      const line = isReportedElsewhere(event) || SHOWN_IN_BLOCK.has(event.kind) ? null : formatEvent(event);
      if (line !== null) print(line, getEventStyle(event));
      pendingEvents.push(event);
      painter.scheduleRepaint();
    },
    loadPast(past) {
      isLoadingPast = true;
      past.then(addPastEvents, () => addPastEvents([]));
    },
    watch(activity) {
      if (verbose) for (const line of formatActivity(activity)) print(line, 'dim');
      latestActivities.set(activity.agent, activity);
      painter.scheduleRepaint();
    },
    warn: (line) => print(line, 'yellow'),
    interrupt(times) {
      interrupts = times;
      painter.scheduleRepaint();
    },
    close: () => painter.close(),
  };
}

/** What the block shows as long as it matters. */
const SHOWN_IN_BLOCK: ReadonlySet<Event['kind']> = new Set(['turn_started', 'agent_started']);

const EVENT_STYLES: Partial<Record<Event['kind'], TextStyle | undefined>> = {
  run_started: 'dim',
  run_resumed: 'dim',
  agent_resumed: 'dim',
  agent_failed: 'red',
  transition: undefined,
};

/** Whatever is neither plain progress nor a failure is a warning. */
const getEventStyle = ({ kind }: Event): TextStyle | undefined =>
  kind in EVENT_STYLES ? EVENT_STYLES[kind] : 'yellow';

const SYSTEM_CLOCK: LiveClock = {
  now: Date.now,
  after(ms, action) {
    const timer = setTimeout(action, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, action) {
    const timer = setInterval(action, ms).unref();
    return () => clearInterval(timer);
  },
};
