import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../core/options/options.ts';
import type { RunStatus } from '../core/run/run.ts';
import { errorCodeOf } from '../errors.ts';
import type { TextPosition } from '../language/text/text.ts';
import type { AsksByState } from './asks.ts';
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

/** A folder whose files are copied for each run of a scenario. */
interface Fixtures {
  readonly folder: string;
  /** The paths of everything in it, relative to it; folders end in `/`. */
  readonly names: readonly string[];
}

/** The limits of a zip: every scenario gets its own copy. */
const MAX_FIXTURE_FILES = 10_000;
const MAX_FIXTURE_BYTES = 64 * 2 ** 20;

/** Lists a folder of fixtures, or returns the reason why it cannot be copied. */
export function listFixtures(folder: string): Fixtures | string {
  const names: string[] = [];
  let bytes = 0;
  const addEntry = (name: string, entry: Dirent): string | undefined => {
    if (entry.isDirectory()) return walkFolder(`${name}/`);
    // A link could point to anything on this machine.
    if (!entry.isFile()) return `\`${name}\` is a link or a special file: put a regular file there`;
    names.push(name);
    bytes += statSync(join(folder, name)).size;
    return undefined;
  };
  const walkFolder = (prefix: string): string | undefined => {
    if (prefix !== '') names.push(prefix);
    const entries = readdirSync(join(folder, prefix), { withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    for (const entry of entries.filter(({ name }) => prefix !== '' || name !== RAYMOND_FOLDER)) {
      const problem = addEntry(`${prefix}${entry.name}`, entry);
      if (problem !== undefined) return problem;
      if (names.length > MAX_FIXTURE_FILES) return `it contains more than ${MAX_FIXTURE_FILES} files`;
      if (bytes > MAX_FIXTURE_BYTES) return `it contains more than ${MAX_FIXTURE_BYTES / 2 ** 20} MB`;
    }
    return undefined;
  };
  try {
    return walkFolder('') ?? { folder, names };
  } catch (error) {
    return ERROR_MESSAGES[errorCodeOf(error)] ?? `it cannot be read (${errorCodeOf(error)})`;
  }
}

const ERROR_MESSAGES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is not a folder',
};

/** Raymond's own folder, which is never a fixture. */
const RAYMOND_FOLDER = '.raymond';
