import type { Activity } from '../../../core/run/activity.ts';
import type { Event } from '../../../core/run/event.ts';
import type { AgentStatus } from '../../../core/run/status.ts';
import { isPrompt } from '../../../language/state-names.ts';
import { AgentLabels } from '../../agent-labels.ts';
import { formatActivity, formatCount, formatEvent } from '../../format.ts';
import { createColorizer, type TextStyle } from '../../text-style.ts';
import { wrapText } from '../../text-width.ts';
import { isReportedElsewhere, type Reporter, type TalkTarget } from '../reporter.ts';
import { type LiveClock, type Screen, SYSTEM_LIVE_CLOCK } from '../terminal.ts';
import { INITIAL_CONTROLS, pressKey, type ScrollRange, type ViewControls } from './controls.ts';
import { Painter } from './painter.ts';
import { formatWindowTitle, layoutLiveView } from './render.ts';
import { type Listeners, TalkPanel } from './talk-panel.ts';
import { applyActivities, applyEventStream, applyEvents, applyQueued, EMPTY_VIEW, type LiveView } from './view.ts';

/** Creates a reporter with a live block at the bottom of the screen, and finished lines that scroll away above it. */
export function createLiveReporter(screen: Screen, verbose: boolean, clock: LiveClock = SYSTEM_LIVE_CLOCK): Reporter {
  const colorize = createColorizer(screen.color);
  const labels = new AgentLabels();
  let view = EMPTY_VIEW;
  let interrupts = 0;
  let controls = INITIAL_CONTROLS;
  let range: ScrollRange = { lastOffset: 0, page: 1 };
  /** The view as it was when it was frozen. */
  let frozen: { readonly view: LiveView; readonly now: number } | null = null;
  /** Updates for the next frame. Only the latest activity of an agent counts. */
  let pendingEvents: Event[] = [];
  const latestActivities = new Map<string, Activity>();
  /** The agents whose turns wait for slots of their nodes. */
  let queued: ReadonlySet<string> = new Set();
  /** True if earlier events are still being read: later ones mean nothing without them. */
  let isLoadingPast = false;
  const painter = new Painter(screen, clock, (now, size) => {
    if (!isLoadingPast) {
      const updated = applyActivities(applyEvents(view, pendingEvents), latestActivities.values());
      view = { ...applyQueued(updated, queued), interrupts };
      pendingEvents = [];
      latestActivities.clear();
    }
    const shown = frozen ?? { view, now };
    panel.update(listListeners(view));
    const choice = { ...controls, remark: formatRemark(), panel: panel.view, canAnswer: toRun !== null };
    const layout = layoutLiveView(shown.view, shown.now, size, choice);
    range = layout.range;
    return { lines: layout.lines, title: formatWindowTitle(view, now), takesText: panel.view?.kind === 'typing' };
  });
  const formatRemark = (): string =>
    frozen !== null
      ? `frozen (space continues)${painter.heldLines > 0 ? `, ${formatCount(painter.heldLines, 'line')} to come` : ''}`
      : screen.onKey !== undefined && !controls.showsHelp
        ? '? for keys'
        : '';
  const applyControls = (next: ViewControls): void => {
    if (next === controls) return;
    if (next.isFrozen !== controls.isFrozen) {
      frozen = next.isFrozen ? { view, now: clock.now() } : null;
      painter.hold(next.isFrozen);
    }
    controls = next;
    painter.paint();
  };
  const { edit } = screen;
  /** How the words of people get to the run; null before it has started. */
  let toRun: TalkTarget | null = null;
  let editorClosed: Promise<unknown> = Promise.resolve();
  const panel = new TalkPanel({
    answer: async (ask, text) => (await toRun?.answer(ask, text)) ?? false,
    say: async (agent, text) => toRun?.say(agent, text),
    interrupt: async (agent, text) => toRun?.interrupt(agent, text),
    ...(edit !== undefined && {
      async edit(text, question) {
        const takeBack = painter.lend();
        const edited = edit(text, question).finally(takeBack);
        editorClosed = edited.catch(() => {});
        return edited;
      },
    }),
    print: (line) => print(line, 'yellow'),
    repaint: () => painter.scheduleRepaint(),
  });
  const stopReadingKeys = screen.onKey?.((key, typed) => {
    if (toRun === null || !panel.press(key, typed)) {
      applyControls(pressKey(controls, key, range));
      return false;
    }
    if (controls.isFrozen) applyControls({ ...controls, isFrozen: false });
    // Pasted text arrives letter by letter and may be long.
    if (panel.isPasting) painter.scheduleRepaint();
    else painter.paint();
    return true;
  });
  const print = (text: string, style?: TextStyle): void => {
    for (const line of text.split('\n').flatMap((part) => wrapText(part, screen.size().columns - 1))) {
      painter.print(style === undefined ? line : colorize(style, line));
    }
  };
  const showPast = (past: LiveView): void => {
    view = past;
    isLoadingPast = false;
    painter.scheduleRepaint();
  };
  return {
    observe(event) {
      labels.observe(event);
      const line = isReportedElsewhere(event) || SHOWN_IN_BLOCK.has(event.kind) ? null : formatEvent(event, labels.of);
      if (line !== null) print(event.kind === 'asked' ? abridge(line) : line, getEventStyle(event));
      if (event.kind === 'agent_ended') labels.forget(event.agent);
      pendingEvents.push(event);
      painter.scheduleRepaint();
    },
    addAgents: (agents) => labels.add(agents),
    loadPast(past) {
      isLoadingPast = true;
      applyEventStream(view, past).then(showPast, () => showPast(view));
    },
    watch(activity) {
      if (verbose) for (const line of formatActivity(activity, labels.of)) print(line, 'dim');
      latestActivities.set(activity.agent, activity);
      painter.scheduleRepaint();
    },
    watchQueued(agents) {
      queued = agents;
      painter.scheduleRepaint();
    },
    watchPrints: (printed) => print(formatEvent(printed, labels.of) ?? ''),
    warn: (line) => print(line, 'yellow'),
    ...(screen.onKey !== undefined && {
      takeWords(run) {
        toRun = run;
      },
    }),
    whenFree: () => editorClosed,
    interrupt(times) {
      interrupts = times;
      applyControls({ ...controls, isFrozen: false });
      painter.scheduleRepaint();
    },
    close() {
      stopReadingKeys?.();
      painter.close();
    },
  };
}

const MAX_ASKED_LINES = 8;
const MAX_ASKED_CHARS = 1_000;

/** The beginning of a question: the block shows all of it. */
function abridge(text: string): string {
  const shown = text.slice(0, MAX_ASKED_CHARS).split('\n').slice(0, MAX_ASKED_LINES).join('\n');
  return shown.length < text.length ? `${shown} …` : text;
}

/** The events that the block shows for as long as they matter. */
const SHOWN_IN_BLOCK: ReadonlySet<Event['kind']> = new Set(['turn_started', 'agent_started', 'run_waiting']);

const EVENT_STYLES: Partial<Record<Event['kind'], TextStyle | undefined>> = {
  run_started: 'dim',
  run_resumed: 'dim',
  agent_resumed: 'dim',
  agent_failed: 'red',
  said: 'cyan',
  said_delivered: 'dim',
  transition: undefined,
};

/** The style of an event's line: everything that is neither progress nor a failure is a warning. */
const getEventStyle = ({ kind }: Event): TextStyle | undefined =>
  kind in EVENT_STYLES ? EVENT_STYLES[kind] : 'yellow';

/** Agents that do not continue by themselves: they would hear only after a resume. */
const AT_REST: ReadonlySet<AgentStatus> = new Set(['failed', 'limited', 'paused', 'withheld', 'cancelling']);

/** The agents of a run with which a person can talk now; none while it stops. */
function listListeners({ agents, stop }: LiveView): Listeners {
  const all = stop === null ? [...agents.values()] : [];
  return {
    answer: all.filter(({ question }) => question !== null),
    say: all.filter(({ phase }) => !AT_REST.has(phase)),
    interrupt: all.filter(
      ({ phase, evaluator, state }) =>
        (phase === 'running' || phase === 'queued') && evaluator === null && isPrompt(state),
    ),
  };
}
