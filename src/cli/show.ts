import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import { lineOf } from '../observers/words.ts';
import type { Words } from './catalogue.ts';
import type { Terminal } from './terminal.ts';

/** Shows a run to the user while it goes on. */
export interface Show {
  readonly observe: (event: Event) => void;
  /** Left out where nobody wants to know what agents do at this moment. */
  readonly watch?: (activity: Activity) => void;
  /** A line of our own, such as what a Ctrl-C has brought about. */
  readonly say: (line: string) => void;
  /** Gives the terminal back as it was. */
  readonly close: () => void;
}

/** The show that suits the terminal and the words. */
export function showFor(words: Words, terminal: Terminal): Show {
  return plainShow(words, terminal);
}

/** One plain line for each thing that happens; none but our own if the user wants it quiet. */
function plainShow(words: Words, { err }: Terminal): Show {
  const say = (line: string): void => err(`${line}\n`);
  return {
    observe(event) {
      const line = words.quiet ? null : lineOf(event);
      if (line !== null) say(line);
    },
    say,
    close: () => {},
  };
}
