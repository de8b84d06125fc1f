import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import { lineOf, linesAbout } from '../observers/words.ts';
import type { Terminal } from './terminal.ts';

/** Shows a run to the user while it goes on. */
export interface Show {
  readonly observe: (event: Event) => void;
  /** Left out where nobody wants to know what agents do at this moment. */
  readonly watch?: (activity: Activity) => void;
  /** Told what happened in earlier lives of a run that is taken up again; left out where it does not matter. */
  readonly recall?: (past: Promise<readonly Event[]>) => void;
  /** A line of our own, such as a warning. */
  readonly say: (line: string) => void;
  /** The user has pressed Ctrl-C, so many times by now. */
  readonly interrupt: (times: number) => void;
  /** Gives the terminal back as it was. */
  readonly close: () => void;
}

/** One plain line for each thing that happens. */
export function plainShow(err: Terminal['err'], verbose: boolean): Show {
  const say = (line: string): void => err(`${line}\n`);
  return {
    observe(event) {
      const line = isToldOtherwise(event) ? null : lineOf(event);
      if (line !== null) say(line);
    },
    ...(verbose && { watch: (activity: Activity) => linesAbout(activity).forEach(say) }),
    say,
    interrupt(times) {
      const line = AT_INTERRUPT[times - 1];
      if (line !== undefined) say(line);
    },
    close: () => {},
  };
}

/** The summary tells the end of a run, and who presses Ctrl-C is answered at once. */
export const isToldOtherwise = (event: Event): boolean =>
  event.kind === 'run_ended' || (event.kind === 'run_stopping' && event.stop.kind === 'interrupted');

/** Nothing but what the user must know, or has just asked for. */
export const quietShow = (err: Terminal['err']): Show => ({ ...plainShow(err, false), observe: () => {} });

const AT_INTERRUPT = [
  'stopping: turns under way come to their end; press Ctrl-C again to end them now',
  'ending the turns under way',
];
