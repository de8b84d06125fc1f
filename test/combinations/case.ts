/** A generated case: workflows, canned answers and what happens to the run, as plain data that the model can read. */

/** The tags that say where an agent continues. */
export type TagName =
  | 'goto'
  | 'reset'
  | 'compact'
  | 'call'
  | 'function'
  | 'fork'
  | 'fork-each'
  | 'join'
  | 'ask'
  | 'result'
  | 'call-workflow'
  | 'function-workflow'
  | 'fork-workflow'
  | 'reset-workflow';

/** A tag of an answer. States are named without their extension, workflows by their path. */
export interface TagDef {
  readonly tag: TagName;
  /** The state, workflow or text between the tags. */
  readonly target: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The ways in which a canned turn fails. */
export type CannedFailure =
  | 'overloaded'
  | 'usage_limit'
  | 'billing'
  | 'prompt_too_long'
  | 'refusal'
  | 'session_lost'
  | 'timeout';

/** A canned answer for one turn. */
export interface AnswerDef {
  readonly tags: readonly TagDef[];
  /** True if the last tag is cut off in the middle. */
  readonly isCut: boolean;
  /** True if a judge or a gate confirms the transition. */
  readonly confirms: boolean;
  /** What it says besides, such as what a pattern looks for. */
  readonly words: string;
  readonly prints: readonly string[];
  /** In micro-dollars. */
  readonly cost: number;
  readonly fail: CannedFailure | null;
  readonly deny: readonly string[];
  readonly exit: number;
  readonly say: string | null;
  readonly seconds: number;
  readonly summary: { readonly cost: number; readonly fails: boolean };
  /** The used percentage of the subscription that it reports; null for none. */
  readonly quota: number | null;
  /** Files that it writes where the agent works. */
  readonly writes: Readonly<Record<string, string>>;
}

/** An evaluator of a state. */
export type EvaluatorDef =
  | { readonly kind: 'match' | 'unless'; readonly pattern: string; readonly instead: TagDef }
  | { readonly kind: 'script' | 'prompt'; readonly file: string };

/** An outcome that a guard catches. */
export type Outcome = 'error' | 'timeout' | 'denied' | 'too_long' | 'no_tag' | 'stuck' | 'max_visits';

/** An entry of `allowed_transitions`. */
export interface PolicyEntryDef {
  readonly tag: TagName;
  readonly target?: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A state as its file defines it. */
export interface StateDef {
  /** The file, such as `S1.md`. */
  readonly file: string;
  readonly policy: readonly PolicyEntryDef[];
  readonly forceImplicit: boolean;
  readonly maxVisits: number | null;
  readonly perCall: boolean;
  readonly retry: number | null;
  readonly on: Readonly<Partial<Record<Outcome, string>>>;
  readonly stuckAfter: number | null;
  /** True if its results must be objects with a whole number `n`. */
  readonly hasSchema: boolean;
  readonly evaluators: readonly EvaluatorDef[];
  readonly repeatable: boolean;
  readonly model: string | null;
  readonly effort: string | null;
  readonly timeout: string | null;
  /** The tags that a real script prints; null if the script is played. */
  readonly real: readonly TagDef[] | null;
  /** By visit, the answers of its turns; the last one is repeated. */
  readonly answers: readonly (readonly AnswerDef[])[];
}

/** The forms in which a workflow is on disk. */
export type WorkflowForm = 'folder' | 'yaml' | 'zip';

/** A workflow. The one called `main` is run; the states of others have its name before theirs. */
export interface WorkflowDef {
  readonly name: string;
  readonly form: WorkflowForm;
  /** Variables of its manifest. */
  readonly vars: Readonly<Record<string, string>>;
  /** By name without extension. */
  readonly states: ReadonlyMap<string, StateDef>;
}

/** What a person answers to the questions of a state, one after the other; null if nobody does. */
export interface PersonDef {
  readonly text: string;
  readonly afterMs: number;
  readonly files: Readonly<Record<string, string>>;
}

/** Where the process is killed: at the nth time that it is about to do this, or has just done it. */
export interface CrashDef {
  readonly at: 'prepare' | 'save' | 'saved' | 'take' | 'taken';
  readonly nth: number;
}

/** Where a person stops the run, with `raymond stop`, Ctrl-C or `raymond stop --now`. */
export interface StopDef extends CrashDef {
  readonly how: 'stop' | 'interrupt' | 'kill';
}

/** A whole case. */
export interface Case {
  readonly workflows: ReadonlyMap<string, WorkflowDef>;
  readonly input: string | null;
  readonly vars: Readonly<Record<string, string>>;
  readonly budget: number | null;
  readonly maxIterations: number | null;
  readonly parallel: number;
  readonly asks: ReadonlyMap<string, readonly (PersonDef | null)[]>;
  /** The states, with their workflow's name if it is not `main`, whose first turn is interrupted, and what the person says; null to be asked. */
  readonly interrupts: ReadonlyMap<string, string | null>;
  readonly crashes: readonly CrashDef[];
  readonly stops: readonly StopDef[];
  /** The percentage of the subscription from which fewer turns run at once, and the one that is kept for the user. */
  readonly slowAt: number | null;
  readonly reserve: number | null;
  /** False if the run pauses instead of waiting for the end of a usage limit. */
  readonly waits: boolean;
  /** True if the project is a git repository, and if the run works in a clone of another one. */
  readonly usesGit: boolean;
  readonly usesWorkspace: boolean;
  /** True if the run is kept in a database, as those of a fleet are. */
  readonly usesDatabase: boolean;
  /** Files in the folder of the run. */
  readonly files: Readonly<Record<string, string>>;
  /** Files that somebody adds there once the run has paused; folders end in a slash. */
  readonly lateFiles: Readonly<Record<string, string>>;
}

/** The name by which everything refers to a state. */
export const fullName = (workflow: string, file: string): string =>
  workflow === 'main' ? file : `${workflow}/${file}`;

/** True for prompts, false for scripts. */
export const isPromptFile = (file: string): boolean => file.endsWith('.md');

/** An answer that says nothing. */
export const SILENT: AnswerDef = {
  tags: [],
  isCut: false,
  confirms: false,
  words: '',
  prints: [],
  cost: 0,
  fail: null,
  deny: [],
  exit: 0,
  say: null,
  seconds: 0,
  summary: { cost: 0, fails: false },
  quota: null,
  writes: {},
};
