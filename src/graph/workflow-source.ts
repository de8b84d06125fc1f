import { fileInWorkflow, normalizeSpec, workflowNameOf } from '../language/named-workflows.ts';
import type { FileFinding, State } from '../language/state.ts';
import type { Platform, Resolution, Scope } from '../language/state-names.ts';
import { memoize } from '../language/text/memoize.ts';
import type { TextPosition } from '../language/text/text.ts';
import { groupBy } from './group-by.ts';

/** A workflow as plain data, read from a folder, a zip or one file: the input of lint and graph. */
export interface WorkflowSource {
  readonly name: string;
  readonly platform: Platform;
  /** The state in which it starts, or why there is none. */
  readonly entry: Resolution;
  /** True if the user named the entry: then its folder may also contain states of other workflows. */
  readonly entryGiven: boolean;
  /** Start states in folders directly below, if there is none here. */
  readonly below?: readonly string[];
  /** The default of `stack` in `<reset>`. */
  readonly resetStack: 'keep' | 'clear';
  /** Variables that every run is known to have: `vars` of the manifest, `[vars]` of the config, `--var`. */
  readonly variables: readonly string[];
  /** True if runs that are started from here are in a git repository; absent if nobody looked. */
  readonly isInRepository?: boolean;
  /** The problems of its manifest, if there are any. */
  readonly findings?: readonly FileFinding[];
  readonly files: readonly WorkflowSourceFile[];
  /** Set in a one-file workflow: see `Scope`. */
  readonly anyExtension?: boolean;
  /** The states that workflows around it enter by name; absent if nobody looked. */
  readonly foreignEntries?: readonly string[];
  /** The other workflows that can be reached from it. Their files are among `files`, with the workflow's name before theirs. */
  readonly called?: readonly CalledSource[];
  /** By `specKey`, what the paths of workflows lead to that are known before a run. */
  readonly specs?: ReadonlyMap<string, Resolution>;
}

/** Another workflow that can be reached. */
export interface CalledSource extends Pick<Scope, 'anyExtension'> {
  readonly name: string;
  /** The folder, zip or file, absolute. */
  readonly path: string;
}

/** The key of a path that a workflow names another one with; null stands for the workflow that all begins with. */
export const specKey = (workflow: string | null, spec: string): string => `${workflow ?? ''}\n${normalizeSpec(spec)}`;

/** The scope of a workflow as it was read: of the one that all begins with, or of one that it calls. */
export function sourceScope(source: WorkflowSource, workflow: string | null = null): Scope {
  const { platform, called = [] } = source;
  const { anyExtension } = workflow === null ? source : (called.find(({ name }) => name === workflow) ?? source);
  return { files: filesByWorkflow(source).get(workflow) ?? [], platform, ...(anyExtension && { anyExtension }) };
}

/** The scope in which the states of all workflows of a source can be named. */
export const sourceScopes = (source: WorkflowSource): Scope =>
  source.called === undefined
    ? sourceScope(source)
    : {
        ...sourceScope(source),
        called: Object.fromEntries(source.called.map(({ name }) => [name, sourceScope(source, name)])),
      };

const filesByWorkflow = memoize(({ files }: WorkflowSource): ReadonlyMap<string | null, readonly string[]> => {
  const byWorkflow = groupBy(files, ({ file }) => workflowNameOf(file));
  return new Map(Array.from(byWorkflow, ([name, own]) => [name, own.map(({ file }) => fileInWorkflow(file))]));
});

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
  /** The positions of `state.rules.evaluators`, in the same order; `then.KEY` is that of a key of its transition. */
  readonly evaluatorPositions?: readonly EntryPositions[];
  /** The positions of the values of the frontmatter, by key. */
  readonly keys: Readonly<Record<string, TextPosition>>;
  /** The syntax error that bash reports in a script; null if there is none, undefined if bash was not asked. */
  readonly syntaxError?: ScriptSyntaxError | null;
  /** Its `result_schema` as it is written: the schema itself, or the name of its file. */
  readonly writtenSchema?: WrittenSchema;
  /** Where it stands in the file of a one-file workflow; then all positions are those in that file. */
  readonly origin?: StateOrigin;
  /** The keys beside its text in a one-file workflow, to be compared. */
  readonly settings?: string;
}

/** A `result_schema` as plain data, and the position of each value in it by its JSON pointer. */
export interface WrittenSchema {
  readonly value: unknown;
  readonly positions: Readonly<Record<string, TextPosition>>;
}

/** Where a state stands in the file of a one-file workflow. */
export interface StateOrigin {
  readonly file: string;
  /** The position of the state's name. */
  readonly at: TextPosition;
  /** The position of the value that holds the prompt or script. */
  readonly bodyAt: TextPosition;
  /** The position of its first character if its lines stand there as they are; null for folded and escaped text. */
  readonly body: TextPosition | null;
}

/** The position in its file of a line and column of a one-file workflow's prompt or script. */
export const positionInBody = ({ bodyAt, body }: StateOrigin, { line, column }: TextPosition): TextPosition =>
  body === null ? bodyAt : { line: body.line + line - 1, column: body.column + column - 1 };

/** A syntax error in a script, as bash reports it. */
export interface ScriptSyntaxError {
  readonly at: TextPosition;
  readonly message: string;
}

/** The position of an entry of `allowed_transitions` or `evaluator`, and of the value of each of its keys. */
export interface EntryPositions {
  readonly at: TextPosition;
  readonly keys: Readonly<Record<string, TextPosition>>;
}
