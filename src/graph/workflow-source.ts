import type { Finding, State } from '../core/state.ts';
import type { Platform, Resolution } from '../core/state-names.ts';
import type { TextPosition } from '../core/text-position.ts';

/** A workflow as plain data: all that lint and graph look at. Whoever reads folders and zips fills it in. */
export interface WorkflowSource {
  readonly name: string;
  readonly platform: Platform;
  /** What `resolveEntry` made of a folder or zip, or `resolveState` of a state file. */
  readonly entry: Resolution;
  /** Whether the user named the entry: then its folder may hold states of other workflows as well. */
  readonly entryGiven: boolean;
  /** States to start in that stand in folders below, if there is none here. */
  readonly below?: readonly string[];
  /** What `<reset>` does with the return stack when it does not say. */
  readonly resetStack: 'keep' | 'clear';
  /** Variables that every run is known to have: `[vars]` of the config, `--var`. */
  readonly variables: readonly string[];
  readonly files: readonly WorkflowSourceFile[];
}

/** One file of a workflow. */
export type WorkflowSourceFile =
  | StateSource
  /** A state of this platform that is no text, or cannot be read. */
  | { readonly kind: 'unreadable'; readonly file: string; readonly at: TextPosition; readonly message: string }
  /** No state of this platform: only its name counts. */
  | { readonly kind: 'other'; readonly file: string };

/** A state's file as read by itself, without a look at the other files: whether names lead anywhere is found out here. */
export interface StateSource {
  readonly kind: 'state';
  readonly file: string;
  /** The whole file, frontmatter, byte order mark and line ends included; `state.text` is the end of it. */
  readonly text: string;
  /** What could be made of it. If the findings hold an error, this is not all of it. */
  readonly state: State;
  /** What reading it found, such as unknown keys; nothing about states that do not exist. */
  readonly findings: readonly Finding[];
  /** For each entry of `state.rules.policy`, in the same order. */
  readonly entries: readonly EntryPositions[];
  /** Where the values of the frontmatter's keys stand. */
  readonly keys: Readonly<Record<string, TextPosition>>;
  /** What bash has against a script, if it was asked. */
  readonly syntaxError?: ScriptSyntaxError | null;
}

/** Why a script cannot be run, in the words of bash. */
export interface ScriptSyntaxError {
  readonly at: TextPosition;
  readonly message: string;
}

/** Where an entry of `allowed_transitions` stands, and the value of each of its keys. */
export interface EntryPositions {
  readonly at: TextPosition;
  readonly keys: Readonly<Record<string, TextPosition>>;
}
