import type { Cut } from './cut.ts';
import type { Word } from './word.ts';

/** Where the output of a command goes, as far as anyone hears it. */
export interface Redirect {
  readonly op: string;
  readonly fd: string;
  readonly to: Word;
  readonly document: Cut | null;
}

/** What a script is made of, as far as its ways through matter. */
export type Command =
  | { readonly kind: 'simple'; readonly words: readonly Word[] }
  | { readonly kind: 'if'; readonly arms: readonly Arm[]; readonly otherwise: List | null }
  | { readonly kind: 'case'; readonly word: Word | null; readonly arms: readonly CaseArm[]; readonly total: boolean }
  | {
      readonly kind: 'loop';
      readonly word: 'for' | 'while' | 'until';
      readonly over: Over | null;
      readonly test: List;
      readonly body: List;
    }
  | { readonly kind: 'group'; readonly body: List; readonly subshell: boolean }
  | { readonly kind: 'function'; readonly name: string; readonly body: Part };

/** What a `for` goes through; null for the arguments of the script. */
export interface Over {
  readonly variable: string;
  readonly items: readonly Word[] | null;
}

/** One arm of a `case`, and how it ends: with the `case`, in the next arm, or with a look at the others. */
export interface CaseArm {
  readonly patterns: readonly Word[];
  readonly body: List;
  readonly end: ';;' | ';&' | ';;&';
}

export interface Arm {
  readonly test: List;
  readonly body: List;
}

/** A command with its place and its redirections. */
export interface Part {
  readonly at: number;
  readonly command: Command;
  readonly redirects: readonly Redirect[];
}

/** Commands joined by `|`; only the last one is heard. */
export interface Pipeline {
  readonly negated: boolean;
  readonly parts: readonly Part[];
}

/** Pipelines joined by `&&` and `||`. */
export interface Chain {
  readonly first: Pipeline;
  readonly rest: readonly { readonly op: '&&' | '||'; readonly pipeline: Pipeline }[];
}

export type List = readonly Chain[];
