import type { BadName } from './bad-names.ts';
import type { Graph } from './graph.ts';
import type { Page } from './page.ts';
import type { Proof } from './proof.ts';
import type { Step } from './reach.ts';
import type { Resolver } from './resolver.ts';
import type { Place, Sheet } from './sheet.ts';

/** How bad it is: it will fail, it is hardly meant, it is worth knowing. */
export type Level = 'error' | 'warning' | 'info';

/** All that a rule can look at. */
export interface View {
  readonly sheet: Sheet;
  readonly pages: readonly Page[];
  readonly pageOf: ReadonlyMap<string, Page>;
  readonly names: Resolver;
  /** By file, the names that lead to no state. */
  readonly badNames: ReadonlyMap<string, readonly BadName[]>;
  readonly graph: Graph;
  readonly proof: Proof;
  /** The names of all rules. */
  readonly rules: readonly string[];
  /** By file, what the rules before this one have found: what only follows from it need not be told as well. */
  readonly told: ReadonlyMap<string, readonly Told[]>;
  /** Whether a file is surely meant as a state: a stray note in the folder is only told to be unreachable. */
  isMeant(page: Page): boolean;
  /** Whether an agent can get to this state. */
  isReached(state: string): boolean;
}

/** Something that a rule has found. */
export interface Fault {
  readonly file: string;
  readonly at: Place;
  /** A sentence without its full stop. */
  readonly message: string;
  /** What to do about it, as a sentence. */
  readonly hint: string;
  /** Where it is not the rule's own. */
  readonly level?: Level;
  /** An example of how it happens. */
  readonly path?: readonly Step[];
}

/** What was found by which rule. */
export interface Told extends Fault {
  readonly rule: string;
  readonly level: Level;
}

/** One thing that lint looks for. */
export interface Rule {
  readonly id: string;
  readonly level: Level;
  check(view: View): readonly Fault[];
}

/** A rule that looks at one state after the other, as far as they are meant as states. */
export function rulePerPage(id: string, level: Level, check: (page: Page, view: View) => readonly Fault[]): Rule {
  return {
    id,
    level,
    check: (view) => view.pages.flatMap((page) => (view.isMeant(page) ? check(page, view) : [])),
  };
}

/** Whether one of these rules has found something in a file already. */
export const isTold = ({ told }: View, file: string, ...rules: readonly string[]): boolean =>
  (told.get(file) ?? []).some(({ rule }) => rules.includes(rule));
