import type { MappedText } from './mapped-text.ts';
import type { Word } from './word.ts';

/** Where the output of a command goes, as far as anyone hears it. */
export interface Redirect {
  readonly op: string;
  readonly fd: string;
  readonly to: Word;
  readonly document: MappedText | null;
}

/** What a script is made of, as far as its ways through matter. */
export type ShellCommand =
  | { readonly kind: 'simple'; readonly words: readonly Word[] }
  | { readonly kind: 'if'; readonly arms: readonly IfArm[]; readonly elseBody: CommandList | null }
  | {
      readonly kind: 'case';
      readonly word: Word | null;
      readonly arms: readonly CaseArm[];
      readonly hasDefaultArm: boolean;
    }
  | {
      readonly kind: 'loop';
      readonly keyword: 'for' | 'while' | 'until';
      readonly forClause: ForClause | null;
      readonly test: CommandList;
      readonly body: CommandList;
    }
  | { readonly kind: 'group'; readonly body: CommandList; readonly subshell: boolean }
  | { readonly kind: 'function'; readonly name: string; readonly body: CommandNode };

/** What a `for` goes through; null for the arguments of the script. */
export interface ForClause {
  readonly variable: string;
  readonly items: readonly Word[] | null;
}

/** One arm of a `case`, and how it ends: with the `case`, in the next arm, or with a look at the others. */
export interface CaseArm {
  readonly patterns: readonly Word[];
  readonly body: CommandList;
  readonly end: ';;' | ';&' | ';;&';
}

export interface IfArm {
  readonly test: CommandList;
  readonly body: CommandList;
}

/** A command with its place and its redirections. */
export interface CommandNode {
  readonly at: number;
  readonly command: ShellCommand;
  readonly redirects: readonly Redirect[];
}

/** Commands joined by `|`; only the last one is heard. */
export interface Pipeline {
  readonly negated: boolean;
  readonly commands: readonly CommandNode[];
}

/** Pipelines joined by `&&` and `||`. */
export interface AndOrList {
  readonly first: Pipeline;
  readonly rest: readonly { readonly op: '&&' | '||'; readonly pipeline: Pipeline }[];
}

export type CommandList = readonly AndOrList[];
