import { sanitize, sanitizeStyled } from '../sanitize.ts';
import { type Colorizer, createColorizer } from '../text-style.ts';
import type { Pager } from './pager.ts';

/** The streams, folder, environment and signals of the process that a command runs in. */
export interface Terminal {
  /**
   * Writes what was asked for, results and documents, to stdout. An `exact` text is for other programs: nothing in it is
   * changed unless stdout is a screen.
   */
  readonly out: (text: string, form?: 'exact') => void;
  /** True if `out` is a screen and not a file or a pipe; false if missing. */
  readonly outIsScreen?: boolean;
  /** Starts a pager that shows text in place of `out`; null if the user wants none. Missing if `out` is no screen. */
  readonly startPager?: () => Pager | null;
  /** The code of the first error of `out`, returned once; null if there was none. Missing where there can be none. */
  readonly takeWriteError?: () => string | null;
  /** Writes everything else, progress and errors, to stderr. */
  readonly err: (text: string) => void;
  readonly cwd: string;
  /** Makes this folder the process's current one, too; missing if there are others in the process. */
  readonly changeFolder?: (folder: string) => void;
  /** Makes the whole process spare memory from now on; left out by a terminal that shares its process. */
  readonly saveMemory?: () => void;
  /** Reads all of stdin; missing if there is none. */
  readonly readStdin?: () => Promise<Uint8Array>;
  readonly env: NodeJS.ProcessEnv;
  /** The screen behind `err`; null if it is a file or a pipe. */
  readonly screen: Screen | null;
  /** Asks for a yes or no; missing if nobody is there to answer. */
  readonly ask?: (question: string) => Promise<boolean>;
  /** Calls back at each Ctrl-C; returns a function that stops listening. */
  readonly onInterrupt: (action: () => void) => () => void;
}

/** The size of a screen, and whether it has color. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
}

/**
 * Takes a key, such as `f`, `up` or `ctrl-s`, and the text that it types, if any. Keys that mean a signal, such as Ctrl-C,
 * come here first: the signal is not sent if it returns true.
 */
export type KeyListener = (key: string, typed: string) => boolean;

/** A screen whose lines can be painted over. */
export interface Screen {
  readonly write: (text: string) => void;
  /** The present size: a window may be resized at any time. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly color: boolean;
  /** Calls back when the size has changed; returns a function that stops listening. */
  readonly onResize: (action: () => void) => () => void;
  /** Calls back at each key; returns what stops that. Missing where no keys can be read. */
  readonly onKey?: (action: KeyListener) => () => void;
  /** Lets the user edit a text in an editor, with something to read below it; throws if that fails. Keys go there meanwhile. */
  readonly edit?: (text: string, below: string) => Promise<string>;
  /** Calls `leave` before the process ends or is suspended, and `back` when it is resumed; returns what stops that. */
  readonly onLeave: (leave: () => void, back: () => void) => () => void;
}

/** Time for what is drawn on a screen. Its timers must not keep the process alive. */
export interface LiveClock {
  readonly now: () => number;
  /** Calls once, later; returns a function that cancels it. */
  readonly after: (ms: number, action: () => void) => () => void;
  /** Calls again and again; returns a function that stops it. */
  readonly every: (ms: number, action: () => void) => () => void;
}

/** The clock of the system. */
export const SYSTEM_LIVE_CLOCK: LiveClock = {
  now: Date.now,
  after(ms, action) {
    const timer = setTimeout(action, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, action) {
    const timer = setInterval(action, ms).unref();
    return () => clearInterval(timer);
  },
};

/**
 * The terminal that commands write to. Names and texts may be a stranger's: whatever a command writes, control characters
 * are removed here, except the styles that Raymond itself uses on a screen with color.
 */
export function guardTerminal(terminal: Terminal): Terminal {
  const { out, err, ask, startPager, outIsScreen = false, screen } = terminal;
  const sanitizeFor = (isScreen: boolean): ((text: string) => string) =>
    isScreen && screen?.color ? sanitizeStyled : sanitize;
  const [sanitizeOut, sanitizeErr] = [sanitizeFor(outIsScreen), sanitizeFor(true)];
  return {
    ...terminal,
    out: (text, form) => out(form === 'exact' && !outIsScreen ? text : sanitizeOut(text)),
    err: (text) => err(sanitizeErr(text)),
    ...(startPager !== undefined && {
      startPager: () => {
        const pager = startPager();
        return pager && { ...pager, write: (text: string) => pager.write(sanitizeOut(text)) };
      },
    }),
    ...(ask !== undefined && { ask: (question) => ask(sanitize(question)) }),
  };
}

/** The width, colors and time for what is rendered. Columns are infinite in a file or a pipe. */
export interface RenderContext {
  readonly columns: number;
  readonly colorize: Colorizer;
  readonly now: number;
}

/** Creates the context for what is printed on stdout. */
export function createRenderContext(
  { outIsScreen = false, screen }: Terminal,
  now: number = Date.now(),
): RenderContext {
  const isScreen = outIsScreen && screen !== null;
  return {
    columns: isScreen ? screen.size().columns : Number.POSITIVE_INFINITY,
    colorize: createColorizer(isScreen && screen.color),
    now,
  };
}
