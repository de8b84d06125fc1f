import type { Question } from '../ask.ts';
import type { EnteredWorkflow } from '../named-workflows.ts';
import type { Position, Preference } from '../position.ts';
import type { BuiltInAttribute, Tag, TagAttribute } from '../tags/tag.ts';

/** The resolved values of a tag: states are files of the workflow, `cd` is a folder that exists. */
export interface TransitionTarget extends Preference {
  /** The state to go to; for a text tag, the text. */
  readonly body: string;
  /** The workflow to enter; null for tags that stay in their own. */
  readonly workflow: EnteredWorkflow | null;
  readonly return: string | null;
  readonly next: string | null;
  readonly cd: string | null;
  readonly stack: 'keep' | 'clear';
  readonly input: string | null;
  /** True if the tag has the `task` that means something on it. */
  readonly takesTaskWord: boolean;
  /** True if the worker gets a git worktree of its own. */
  readonly takesWorktree: boolean;
  /** The attributes that belong to this tag only, as they were written; a state is a file of the workflow. */
  readonly own: Readonly<Partial<Record<TagAttribute, string>>>;
  /** The author's own attributes. */
  readonly variables: Readonly<Record<string, string>>;
  /** The condition of a `<join>`; null on any other tag. */
  readonly join: JoinTerms | null;
  /** The items of a `<fork-each>`; null on any other tag. */
  readonly items: readonly ForkItem[] | null;
}

/** The position of an agent that continues in the state that a tag names, with what it hands over. */
export const moveTo = (at: Position, { body, input }: TransitionTarget): Position => ({ ...at, state: body, input });

/** The condition of a join. */
export interface JoinTerms {
  /** How many workers must be done. */
  readonly wait: 'all' | number;
  /** The variable `group` of the workers that it is about; null for all of them. */
  readonly group: string | null;
  /** True if workers that are not needed any more are ended. */
  readonly cancel: boolean;
  /** How long it waits, and where the agent then continues; null if it waits as long as it takes. */
  readonly timeoutMs: number | null;
  readonly timeoutNext: string | null;
}

/** An item of a file for which a worker is started: its variables, and its input if it has one. */
export interface ForkItem {
  readonly variables: Readonly<Record<string, string>>;
  readonly input: string | null;
}

/** An agent that is about to be started as a worker. */
export interface Worker extends Pick<Position, 'state' | 'input' | 'cwd' | 'nesting' | 'model' | 'effort'> {
  readonly variables: Readonly<Record<string, string>>;
  /** True if it works in the task folder of its parent. */
  readonly inheritsTask: boolean;
  /** The workflow that it starts; null if it is its parent's. */
  readonly workflow: EnteredWorkflow | null;
  /** True if it gets a git worktree of its own. */
  readonly takesWorktree: boolean;
}

/** The outcome of a transition: the agent continues, perhaps with new workers beside it, asks a person, or ends. */
export type TransitionResult =
  | {
      readonly kind: 'on';
      readonly position: Position;
      readonly workers?: readonly Worker[];
      /** True if the agent gets a new task folder. */
      readonly startsTask?: boolean;
      readonly warning?: string;
      /** The condition for which the agent waits. */
      readonly join?: JoinTerms;
    }
  | { readonly kind: 'ask'; readonly question: Question }
  | { readonly kind: 'end'; readonly result: string };

/** The definition of a tag. */
export interface Transition {
  /** True if the body is a state's name, the path of a workflow, or free text. */
  readonly body: 'state' | 'workflow' | 'text';
  /** The attributes of the language that the tag takes; any other built-in one is an error. */
  readonly attributes: readonly BuiltInAttribute[];
  /** The attributes that must be given. */
  readonly required: readonly BuiltInAttribute[];
  /**
   * Its part in an answer with several tags: any number may start workers, and at most one says where the agent itself
   * continues. A tag without a part stands alone.
   */
  readonly part?: 'workers' | 'continuation';
  /** True if further attributes are variables; elsewhere they are ignored with a warning. */
  readonly variables: boolean;
  /** The default for the return stack; the run's option if left out. */
  readonly defaultStack?: 'clear';
  /** The value of `task` that has a meaning on this tag; any other is an author's own attribute. */
  readonly taskWord?: 'inherit' | 'new';
  /** Explains what is wrong with the values of its attributes, or with its text; undefined if nothing is. */
  findProblem?(tag: Pick<Tag, 'attributes' | 'body'>): string | undefined;
  /** Applies the tag to a position. */
  follow(at: Position, target: TransitionTarget): TransitionResult;
}
