import type { PinnedWorkflow } from './pinned-code.ts';

/** A workflow that an answer enters. */
export interface EnteredWorkflow {
  /** The name that comes before those of its states in this run; null for the run's own workflow. */
  readonly name: string | null;
  /** The name that its workers are called after. */
  readonly title: string;
  /** The folder, zip or one-file workflow, absolute. */
  readonly path: string;
  /** The state to start in, as the run calls it. */
  readonly state: string;
  /** Its description of the required input; null if it needs none. */
  readonly requiredInput: string | null;
  /** True if it says that it takes no input. */
  readonly takesNoInput: boolean;
  /** True if agents in it may join their workers, as far as is known. */
  readonly joins: boolean;
  /** The variables that all its states have. */
  readonly variables: Readonly<Record<string, string>>;
  /** Its code, if the run has not pinned it yet. */
  readonly code?: { readonly path: string; readonly pinned: PinnedWorkflow };
}

/** A workflow named by an answer, or the reason why it cannot be entered. */
export type NamedWorkflow = EnteredWorkflow | RefusedWorkflow;

/** Why a workflow cannot be entered. */
export interface RefusedWorkflow {
  readonly problem: string;
  /** Set if it is there, but the run does not know it, or not as it is. */
  readonly isUnknown?: true;
}

/** For each workflow named by an answer, as it is written there, what it is. */
export type NamedWorkflows = Readonly<Record<string, NamedWorkflow>>;

/** A workflow that agents of a run have entered besides its own, by the name that comes before those of its states. */
export type CalledWorkflow = Pick<EnteredWorkflow, 'path' | 'variables'>;

/** The name of the workflow that a state belongs to; null for a state of the run's own workflow. */
export function workflowNameOf(state: string): string | null {
  const end = state.lastIndexOf('/');
  return end === -1 ? null : state.slice(0, end);
}

/** The file of a state in its workflow. */
export const fileInWorkflow = (state: string): string => state.slice(state.lastIndexOf('/') + 1);

/** The name of a state in a run: that of its file, after the name of its workflow if that is not the run's own. */
export const nameState = (workflow: string | null, file: string): string =>
  workflow === null ? file : `${workflow}/${file}`;

/** True if two paths of workflows are written alike, but for a slash at the end and the kind of slashes. */
export const isSameSpec = (a: string, b: string): boolean => normalizeSpec(a) === normalizeSpec(b);

/** The path of a workflow with slashes that every system knows, and none at its end. */
export const normalizeSpec = (spec: string): string =>
  spec
    .trim()
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/+)+(?=.)/, '')
    .replace(/(?<=[^/])\/+$/, '');
