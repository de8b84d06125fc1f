import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import { formatActivity, formatEvent } from '../events/format.ts';
import type { Terminal } from './terminal.ts';

/** Shows a run to the user while it goes on. */
export interface Reporter {
  readonly observe: (event: Event) => void;
  /** Left out where nobody wants to know what agents do at this moment. */
  readonly watch?: (activity: Activity) => void;
  /** Told what happened in earlier lives of a run that is taken up again; left out where it does not matter. */
  readonly loadPast?: (past: Promise<readonly Event[]>) => void;
  /** A line of our own, such as a warning. */
  readonly warn: (line: string) => void;
  /** The user has pressed Ctrl-C, so many times by now. */
  readonly interrupt: (times: number) => void;
  /** Gives the terminal back as it was. */
  readonly close: () => void;
}

/** One plain line for each thing that happens. */
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

/** The summary tells the end of a run, and who presses Ctrl-C is answered at once. */
export const isReportedElsewhere = (event: Event): boolean =>
  event.kind === 'run_ended' || (event.kind === 'run_stopping' && event.stop.kind === 'interrupted');

/** Nothing but what the user must know, or has just asked for. */
export const createQuietReporter = (err: Terminal['err']): Reporter => ({
  ...createPlainReporter(err, false),
  observe: () => {},
});

const INTERRUPT_MESSAGES = [
  'stopping: turns under way come to their end; press Ctrl-C again to end them now',
  'ending the turns under way',
];
