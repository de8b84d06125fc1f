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
