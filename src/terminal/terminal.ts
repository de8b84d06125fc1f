import type { Screen } from './screen.ts';

export type { Screen } from './screen.ts';

/** What the command needs of the process it runs in. */
export interface Terminal {
  /** What was asked for: results, documents. */
  readonly out: (text: string) => void;
  /** Whether `out` is a screen and not a file or a program; not if this is left out. */
  readonly outIsScreen?: boolean;
  /** Why something could not be written to `out`, given once; null if all is well. Left out where nothing can go wrong. */
  readonly takeWriteError?: () => string | null;
  /** Everything else: the story, and what went wrong. */
  readonly err: (text: string) => void;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The screen behind `err`; null if nobody sits in front of it. */
  readonly screen: Screen | null;
  /** Calls back at each Ctrl-C, until it is told to stop listening. */
  readonly onInterrupt: (action: () => void) => () => void;
}
