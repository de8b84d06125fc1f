import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import { formatActivity, formatEvent } from '../events/format.ts';
import type { Terminal } from './terminal.ts';

/** Shows the user a run while it is running. */
export interface Reporter {
  readonly observe: (event: Event) => void;
  /** Shows what agents are doing; missing where that is not shown. */
  readonly watch?: (activity: Activity) => void;
  /** Takes the earlier events of a run that is resumed; missing where they are not needed. */
  readonly loadPast?: (past: Promise<readonly Event[]>) => void;
  /** Shows a line that is not from an event, such as a warning. */
  readonly warn: (line: string) => void;
  /** Shows that Ctrl-C was pressed, for the nth time. */
  readonly interrupt: (times: number) => void;
  /** Restores the terminal. */
  readonly close: () => void;
}

/** Creates a reporter that prints a plain line for each event. */
export function createPlainReporter(err: Terminal['err'], verbose: boolean): Reporter {
  const printLine = (line: string): void => err(`${line}\n`);
  return {
    observe(event) {
      const line = isReportedElsewhere(event) ? null : formatEvent(event);
      if (line !== null) printLine(line);
    },
    ...(verbose && { watch: (activity: Activity) => formatActivity(activity).forEach(printLine) }),
    warn: printLine,
    interrupt(times) {
      const line = INTERRUPT_MESSAGES[times - 1];
      if (line !== undefined) printLine(line);
    },
    close: () => {},
  };
}

/** Whether an event is shown in another way: the summary shows the end, and `interrupt` a Ctrl-C. */
export const isReportedElsewhere = (event: Event): boolean =>
  event.kind === 'run_ended' || (event.kind === 'run_stopping' && event.stop.kind === 'interrupted');

/** Creates a reporter that prints only warnings and the response to Ctrl-C. */
export const createQuietReporter = (err: Terminal['err']): Reporter => ({
  ...createPlainReporter(err, false),
  observe: () => {},
});

const INTERRUPT_MESSAGES = [
  'stopping: running turns may finish; press Ctrl-C again to end them now',
  'ending the running turns',
];
