import type { Options } from '../core/options.ts';
import type { RunStatus } from '../core/run.ts';
import type { TextPosition } from '../core/text-position.ts';
import type { Fixtures } from './fixtures.ts';
import type { AnswersByState, Scenario } from './scenario.ts';

/** What a text should be like: all of it must hold. The patterns are regular expressions. */
export interface TextExpectation {
  readonly equals: string | null;
  readonly contains: readonly string[];
  readonly lacks: readonly string[];
  readonly matches: readonly string[];
}

/** What a state is sent: on every visit of an agent, or of all if it is null; or on one visit after the other. */
interface PromptsExpectation {
  readonly kind: 'prompts';
  readonly agent: string | null;
  readonly state: string;
  readonly every: boolean;
  readonly visits: readonly TextExpectation[];
}

/** One thing that should come of a scenario. */
export type Expectation =
  /** The states that an agent comes to, in order. */
  | { readonly kind: 'path'; readonly agent: string; readonly states: readonly string[] }
  | { readonly kind: 'result'; readonly agent: string; readonly text: TextExpectation }
  | PromptsExpectation
  /** What a file holds; null if there should be none. */
  | { readonly kind: 'file'; readonly name: string; readonly text: TextExpectation | null }
  /** Dollars, of one state or of all. */
  | { readonly kind: 'cost'; readonly state: string | null; readonly usd: number }
  | { readonly kind: 'turns' | 'reminders' | 'warnings'; readonly state: string | null; readonly count: number }
  | { readonly kind: 'status'; readonly status: RunStatus }
  | { readonly kind: 'exit'; readonly code: number };

/** A wish and the place where it is written. */
export type PositionedExpectation = Expectation & TextPosition;

/** A scenario to be tested: what is played, under which circumstances, and what should come of it. */
export interface TestSpec {
  readonly name: string;
  /** Where it begins in its file. */
  readonly at: TextPosition;
  readonly scenario: Scenario;
  /** Those of its answers that stand in its own block, and those that it shares with the others of its file. */
  readonly ownAnswers: AnswersByState;
  readonly sharedAnswers: AnswersByState;
  /** How many scenarios its file has. */
  readonly scenariosInFile: number;
  readonly input: string | null;
  /** Those that are not as usual. */
  readonly options: Partial<Options>;
  /** What the folder holds at first; what ends in `/` is a folder in it. */
  readonly files: Readonly<Record<string, string>>;
  /** What else it holds, as far as it is not among these files. */
  readonly fixtures: Fixtures | null;
  readonly expectations: readonly PositionedExpectation[];
}
