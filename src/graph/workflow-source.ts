import type { FileFinding, State } from '../core/state.ts';
import type { Platform, Resolution } from '../core/state-names.ts';
import type { TextPosition } from '../core/text-position.ts';

/** A workflow as plain data, read from a folder or zip: the input of lint and graph. */
export interface WorkflowSource {
  readonly name: string;
  readonly platform: Platform;
  /** The state in which it starts, or why there is none. */
  readonly entry: Resolution;
  /** Whether the user named the entry: then its folder may also contain states of other workflows. */
  readonly entryGiven: boolean;
  /** Start states in folders directly below, if there is none here. */
  readonly below?: readonly string[];
  /** The default of `stack` in `<reset>`. */
  readonly resetStack: 'keep' | 'clear';
  /** Variables that every run is known to have: `[vars]` of the config, `--var`. */
  readonly variables: readonly string[];
  readonly files: readonly WorkflowSourceFile[];
}

/** One file of a workflow. */
export type WorkflowSourceFile =
  | StateSource
  /** A state of this platform that is not text, or cannot be read. */
  | { readonly kind: 'unreadable'; readonly file: string; readonly at: TextPosition; readonly message: string }
  /** A file that is not a state of this platform: only its name is known. */
  | { readonly kind: 'other'; readonly file: string };

/** The file of a state, read by itself: whether the states that it names exist is not checked yet. */
export interface StateSource {
  readonly kind: 'state';
  readonly file: string;
  /** The whole file, frontmatter, byte order mark and line ends included; `state.text` is the end of it. */
  readonly text: string;
  /** The state as far as it could be read; incomplete if the findings contain an error. */
  readonly state: State;
  /** Problems of the file by itself, such as unknown keys. */
  readonly findings: readonly FileFinding[];
  /** The positions of the entries of `state.rules.policy`, in the same order. */
  readonly entries: readonly EntryPositions[];
  /** The positions of the values of the frontmatter, by key. */
  readonly keys: Readonly<Record<string, TextPosition>>;
  /** The syntax error that bash reports in a script; null if there is none, undefined if bash was not asked. */
  readonly syntaxError?: ScriptSyntaxError | null;
}

/** A syntax error in a script, as bash reports it. */
export interface ScriptSyntaxError {
  readonly at: TextPosition;
  readonly message: string;
}

/** The position of an entry of `allowed_transitions`, and of the value of each of its keys. */
export interface EntryPositions {
  readonly at: TextPosition;
  readonly keys: Readonly<Record<string, TextPosition>>;
}
