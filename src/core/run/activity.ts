/** The current activity of an agent, shown live and not stored. */
export interface Activity {
  readonly at: number;
  readonly agent: string;
  readonly doing: Doing;
}

/** The kinds of things that an agent does. */
export type Doing =
  /** Text of Claude's answer, as it arrives. */
  | { readonly kind: 'says'; readonly text: string }
  /** A tool and what it is used on, such as `Edit` and `src/app.ts`. */
  | { readonly kind: 'uses'; readonly tool: string; readonly detail: string }
  /** Waits to ask an API again that has failed; null is what is not known. */
  | (ApiRetry & { readonly kind: 'retries'; readonly untilMs: number | null })
  /** A line of a script's output. */
  | { readonly kind: 'prints'; readonly text: string };

/** A repeated request to the API: the nth of so many, and why. */
export interface ApiRetry {
  readonly attempt: number | null;
  readonly limit: number | null;
  readonly reason: string;
}

/** One thing that Claude Code did, according to its output. `below` marks what a sub-agent did. */
export type ClaudeActivity =
  | { readonly kind: 'says'; readonly text: string; readonly below: boolean }
  | {
      readonly kind: 'uses';
      readonly id: string;
      readonly tool: string;
      readonly detail: string;
      readonly below: boolean;
    }
  | {
      readonly kind: 'gets';
      /** The id of the tool use whose result this is. */
      readonly id: string;
      readonly isError: boolean;
      readonly text: string;
      readonly below: boolean;
    }
  /** A request to the API failed and is repeated. */
  | (ApiRetry & { readonly kind: 'retries'; readonly delayMs: number | null })
  /** A line of its output that is no event. */
  | { readonly kind: 'prints'; readonly text: string };

/** Nobody continues with a run in a database until there is a certain worker, or again somebody does. It is told live and not stored. */
export interface RunWaiting {
  readonly kind: 'run_waiting';
  readonly at: number;
  /** Words to follow "waits for"; null once the wait is over. */
  readonly waitsFor: string | null;
}
