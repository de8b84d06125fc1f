/** What the command needs of the process it runs in. */
export interface Terminal {
  /** What was asked for: results, documents. */
  readonly out: (text: string) => void;
  /** Everything else: the story, and what went wrong. */
  readonly err: (text: string) => void;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The screen behind `err`; null if nobody sits in front of it. */
  readonly screen: Screen | null;
  /** Calls back at each Ctrl-C, until it is told to stop listening. */
  readonly onInterrupt: (act: () => void) => () => void;
}

/** A terminal in which lines can be painted over. */
export interface Screen {
  readonly write: (text: string) => void;
  /** As it is now: a window may be resized at any time. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly colour: boolean;
  /** Calls back when the size has changed, until it is told to stop. */
  readonly onResize: (act: () => void) => () => void;
}
