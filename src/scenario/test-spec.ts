import type { Options } from '../core/options/options.ts';
import type { RunStatus } from '../core/run/run.ts';
import type { TextPosition } from '../language/text/text-position.ts';
import type { AsksByState } from './asks.ts';
import type { Fixtures } from './fixtures.ts';
import type { AnswersByState, Scenario } from './scenario.ts';

/** Conditions on a text, all of which must hold. `matches` are regular expressions. */
export interface TextExpectation {
  readonly equals: string | null;
  readonly contains: readonly string[];
  readonly lacks: readonly string[];
  readonly matches: readonly string[];
}

/** The prompts of a state, for one agent or, if it is null, for all: the same on every visit, or one for each. */
interface PromptsExpectation {
  readonly kind: 'prompts';
  readonly agent: string | null;
  readonly state: string;
  readonly every: boolean;
  readonly visits: readonly TextExpectation[];
}

/** One expectation of a scenario. */
export type Expectation =
  /** The states that an agent enters, in order. */
  | { readonly kind: 'path'; readonly agent: string; readonly states: readonly string[] }
  | { readonly kind: 'result'; readonly agent: string; readonly text: TextExpectation }
  /** The texts that an agent shows with `<print>`, in order. */
  | { readonly kind: 'prints'; readonly agent: string; readonly texts: readonly string[] }
  | PromptsExpectation
  /** The content of a file; null if it must not exist. */
  | { readonly kind: 'file'; readonly name: string; readonly text: TextExpectation | null }
  /** The cost of one state or, if it is null, of all. */
  | { readonly kind: 'cost'; readonly state: string | null; readonly usd: number }
  | { readonly kind: 'turns' | 'reminders' | 'warnings'; readonly state: string | null; readonly count: number }
  | { readonly kind: 'status'; readonly status: RunStatus }
  | { readonly kind: 'exit'; readonly code: number };

/** An expectation and its position. */
export type PositionedExpectation = Expectation & TextPosition;

/** A scenario as a test: answers, input, options and files of the run, and expectations. */
export interface TestSpec {
  readonly name: string;
  /** The position at which it begins in its file. */
  readonly at: TextPosition;
  readonly scenario: Scenario;
  /** The answers in its own block, and those that it shares with the others of its file. */
  readonly ownAnswers: AnswersByState;
  readonly sharedAnswers: AnswersByState;
  /** The answers of people, and which of them are in its own block. */
  readonly asks: AsksByState;
  readonly ownAsks: AsksByState;
  /** The number of scenarios in its file. */
  readonly scenariosInFile: number;
  readonly input: string | null;
  /** The options that differ from the defaults. */
  readonly options: Partial<Options>;
  /** The files in the working directory at the start, by name; names of folders end in `/`. */
  readonly files: Readonly<Record<string, string>>;
  /** Stand-ins for programs that scripts run, by name. */
  readonly programs: Readonly<Record<string, string>>;
  /** Further files, unless `files` has their names. */
  readonly fixtures: Fixtures | null;
  readonly expectations: readonly PositionedExpectation[];
}
