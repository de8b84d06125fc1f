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
