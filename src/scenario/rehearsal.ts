import type { Options, RunStatus } from '../core/run.ts';
import type { Place } from './document.ts';
import type { Scenario } from './scenario.ts';

/** What a text should be like: all of it must hold. The patterns are regular expressions. */
export interface TextWish {
  readonly equals: string | null;
  readonly contains: readonly string[];
  readonly lacks: readonly string[];
  readonly matches: readonly string[];
}

/** One thing that should come of a scenario. */
export type Wish =
  /** The states that an agent comes to, in order. */
  | { readonly kind: 'path'; readonly agent: string; readonly states: readonly string[] }
  | { readonly kind: 'result'; readonly agent: string; readonly text: TextWish }
  /** What a state is sent: on every visit, or on one visit after the other. */
  | { readonly kind: 'prompts'; readonly state: string; readonly every: boolean; readonly visits: readonly TextWish[] }
  /** What a file holds; null if there should be none. */
  | { readonly kind: 'file'; readonly name: string; readonly text: TextWish | null }
  /** Dollars, of one state or of all. */
  | { readonly kind: 'cost'; readonly state: string | null; readonly usd: number }
  | { readonly kind: 'turns' | 'reminders'; readonly state: string | null; readonly count: number }
  | { readonly kind: 'status'; readonly status: RunStatus }
  | { readonly kind: 'exit'; readonly code: number };

/** A wish and the place where it is written. */
export type Expectation = Wish & Place;

/** A scenario to be tested: what is played, under which circumstances, and what should come of it. */
export interface Rehearsal {
  readonly name: string;
  /** Where it begins in its file. */
  readonly at: Place;
  readonly scenario: Scenario;
  readonly input: string | null;
  /** Those that are not as usual. */
  readonly options: Partial<Options>;
  /** What the folder holds at first. */
  readonly files: Readonly<Record<string, string>>;
  readonly expectations: readonly Expectation[];
}
