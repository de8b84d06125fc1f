/** What an agent is doing at this moment. It is shown to whoever watches and kept nowhere. */
export interface Activity {
  readonly at: number;
  readonly agent: string;
  readonly doing: Doing;
}

export type Doing =
  /** Words to the user, as they come. */
  | { readonly kind: 'says'; readonly text: string }
  /** A tool and what it is used on: `Edit` `src/app.ts`. */
  | { readonly kind: 'uses'; readonly tool: string; readonly detail: string }
  /** A line of a script's output. */
  | { readonly kind: 'prints'; readonly text: string };

/** One thing that Claude Code did, as its output tells it. `below` marks what a sub-agent did. */
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
      /** Of the tool use that this came of. */
      readonly id: string;
      readonly isError: boolean;
      readonly text: string;
      readonly below: boolean;
    }
  /** The API failed and is asked again. */
  | { readonly kind: 'retries'; readonly attempt: number | null; readonly error: string | null }
  /** Something that is no event got into its output. */
  | { readonly kind: 'prints'; readonly text: string };
