import type { Activity } from '../../core/run/activity.ts';
import type { Agent } from '../../core/run/agent.ts';
import type { Event, Printed } from '../../core/run/event.ts';
import { AgentLabels } from '../agent-labels.ts';
import { formatActivity, formatEvent } from '../format.ts';
import type { Terminal } from './terminal.ts';

/** Where the words of people go: answers to questions, and what they say to agents. */
export interface TalkTarget {
  answer(ask: string, text: string): Promise<boolean>;
  say(agent: string, text: string): Promise<unknown>;
  /** Without a text, the agent asks how to continue. */
  interrupt(agent: string, text: string | null): Promise<unknown>;
}

/** Shows the user a run while it is running. */
export interface Reporter {
  readonly observe: (event: Event) => void;
  /** Shows what agents are doing; missing where that is not shown. */
  readonly watch?: (activity: Activity) => void;
  /** Shows that an API fails; only where `watch` is missing. */
  readonly watchRetries?: (activity: Activity) => void;
  /** Shows the text of a `<print>` as it comes; missing where that is not shown. */
  readonly watchPrints?: (printed: Printed) => void;
  /** Shows which agents' turns wait for slots of their nodes; missing where that is not shown. */
  readonly watchQueued?: (agents: ReadonlySet<string>) => void;
  /** Takes the agents that a resumed run has already. */
  readonly addAgents: (agents: readonly Agent[]) => void;
  /** Takes the earlier events of a run that is resumed; missing where they are not needed. */
  readonly loadPast?: (past: AsyncIterable<Event>) => void;
  /** Shows a line that is not from an event, such as a warning. */
  readonly warn: (line: string) => void;
  /** Shows that Ctrl-C was pressed, for the nth time. */
  readonly interrupt: (times: number) => void;
  /** Takes the run that the words of people get to; missing where nobody can type. */
  readonly takeWords?: (run: TalkTarget) => void;
  /** Resolves when no other program has the screen; missing where none ever has. */
  readonly whenFree?: () => Promise<unknown>;
  /** Restores the terminal. */
  readonly close: () => void;
}

/** Creates a reporter that prints a plain line for each event. */
export function createPlainReporter(err: Terminal['err'], verbose: boolean): Reporter {
  const printLine = (line: string): void => err(`${line}\n`);
  const labels = new AgentLabels();
  return {
    observe(event) {
      labels.observe(event);
      const line = isReportedElsewhere(event) ? null : formatEvent(event, labels.of);
      if (line !== null) printLine(line);
      if (event.kind === 'agent_ended') labels.forget(event.agent);
    },
    watchPrints: (printed) => printLine(formatEvent(printed, labels.of) ?? ''),
    addAgents: (agents) => labels.add(agents),
    ...(verbose
      ? { watch: (activity: Activity) => formatActivity(activity, labels.of).forEach(printLine) }
      : { watchRetries: createRetryPrinter((activity) => formatActivity(activity, labels.of).forEach(printLine)) }),
    warn: printLine,
    interrupt(times) {
      const line = INTERRUPT_MESSAGES[times - 1];
      if (line !== undefined) printLine(line);
    },
    close: () => {},
  };
}

/** Many agents retry at once, and each of them ten times: the same reason is not repeated sooner. */
const RETRY_PRINT_INTERVAL_MS = 10_000;

/** Prints a retry unless its reason was printed a moment ago. */
function createRetryPrinter(print: (activity: Activity) => void): (activity: Activity) => void {
  const lastPrintedAt = new Map<string, number>();
  return (activity) => {
    const { doing, at } = activity;
    if (doing.kind !== 'retries') return;
    if (at - (lastPrintedAt.get(doing.reason) ?? Number.NEGATIVE_INFINITY) < RETRY_PRINT_INTERVAL_MS) return;
    lastPrintedAt.set(doing.reason, at);
    print(activity);
  };
}

/** True if an event is shown in another way: the summary shows the end, `interrupt` a Ctrl-C, and `watchPrints` a `<print>`. */
export const isReportedElsewhere = (event: Event): boolean =>
  event.kind === 'run_ended' ||
  event.kind === 'printed' ||
  (event.kind === 'run_stopping' && event.stop.kind === 'interrupted');

/** Creates a reporter that prints only warnings and the response to Ctrl-C. */
export const createQuietReporter = (err: Terminal['err']): Reporter => {
  const { watchPrints: _, watchRetries: __, ...plain } = createPlainReporter(err, false);
  return { ...plain, observe: () => {} };
};

const INTERRUPT_MESSAGES = [
  'stopping: running turns may finish; press Ctrl-C again to end them now',
  'ending the running turns',
];
