/** What the command needs of the process it runs in. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Calls back at each Ctrl-C, until it is told to stop listening. */
  readonly onInterrupt: (act: () => void) => () => void;
}
