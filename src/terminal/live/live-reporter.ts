import type { Activity } from '../../core/activity.ts';
import type { Event } from '../../core/event.ts';
import { formatActivity, formatEvent } from '../../events/format.ts';
import { createColorizer, type TextStyle } from '../../events/text-style.ts';
import { wrapText } from '../../events/text-width.ts';
import { isReportedElsewhere, type Reporter } from '../reporter.ts';
import { type LiveClock, type Screen, SYSTEM_LIVE_CLOCK } from '../terminal.ts';
import { Painter } from './painter.ts';
import { formatWindowTitle, renderLiveView } from './render.ts';
import { applyActivities, applyEvents, EMPTY_VIEW } from './view.ts';

/** Creates a reporter with a live block at the bottom of the screen, and finished lines that scroll away above it. */
export function createLiveReporter(screen: Screen, verbose: boolean, clock: LiveClock = SYSTEM_LIVE_CLOCK): Reporter {
  const colorize = createColorizer(screen.color);
  let view = EMPTY_VIEW;
  let interrupts = 0;
  /** What is not in the view yet, which is updated once a frame. Of an agent's activities only the latest counts. */
  let pendingEvents: Event[] = [];
  const latestActivities = new Map<string, Activity>();
  /** Whether earlier events are still being read: later ones mean nothing without them. */
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

/** The events that the block shows for as long as they matter. */
const SHOWN_IN_BLOCK: ReadonlySet<Event['kind']> = new Set(['turn_started', 'agent_started']);

const EVENT_STYLES: Partial<Record<Event['kind'], TextStyle | undefined>> = {
  run_started: 'dim',
  run_resumed: 'dim',
  agent_resumed: 'dim',
  agent_failed: 'red',
  transition: undefined,
};

/** The style of an event's line: everything that is neither progress nor a failure is a warning. */
const getEventStyle = ({ kind }: Event): TextStyle | undefined =>
  kind in EVENT_STYLES ? EVENT_STYLES[kind] : 'yellow';
