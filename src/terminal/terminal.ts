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

/** How much there is to draw on. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

/** A terminal in which lines can be painted over. */
export interface Screen {
  readonly write: (text: string) => void;
  /** As it is now: a window may be resized at any time. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly colour: boolean;
  /** Calls back when the size has changed, until it is told to stop. */
  readonly onResize: (action: () => void) => () => void;
  /** Calls `leave` before the process ends or is put to sleep, and `back` when it has woken; until it is told to stop. */
  readonly onLeave: (leave: () => void, back: () => void) => () => void;
}

/** Time as the painter needs it. What is to be done later must not keep the process alive. */
export interface LiveClock {
  readonly now: () => number;
  /** Does it once, later, unless it is told not to. */
  readonly after: (ms: number, action: () => void) => () => void;
  /** Does it again and again, until it is told to stop. */
  readonly every: (ms: number, action: () => void) => () => void;
}
