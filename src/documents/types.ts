import type { z } from 'zod';
import type { Event } from '../core/run/event.ts';
import type * as api from './api-schemas.ts';
import type * as events from './event-schemas.ts';
import type * as reports from './report-schemas.ts';
import type * as runs from './run-schemas.ts';
import type * as shared from './shared-schemas.ts';
import type * as turns from './turn-schemas.ts';

/*
 * The documents as types, for builders and for the page. Nothing here exists when the program runs: importing a type loads no
 * schema.
 */

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

/** The data that a schema describes, as it is emitted. */
export type Emitted<Schema extends z.ZodType> = ReadonlyDeep<z.infer<Schema>>;
type Fields<Shape extends z.ZodRawShape> = Emitted<z.ZodObject<Shape>>;

/** The tokens of turns. */
export type TokensDocument = Emitted<typeof shared.TOKENS>;
/** The cost and the tokens of something. */
export type SpendingFields = Fields<typeof shared.SPENDING>;
/** The use of one model. */
export type ModelDocument = Emitted<typeof shared.MODEL>;
/** The windows of a subscription. */
export type QuotaDocument = Emitted<typeof shared.QUOTA>;
/** The fields of a question, in its event and in documents. */
export type QuestionFields = Fields<typeof shared.QUESTION_FIELDS>;
/** The fields of a transition, in its event and in documents. */
export type TransitionFields = Fields<typeof shared.TRANSITION_FIELDS>;

/** The fields of an event besides `kind` and `at`. */
export type EventFields<Kind extends Event['kind']> = Fields<(typeof events.EVENT_FIELDS)[Kind]>;
/** An event. */
export type EventDocument = Emitted<typeof events.EVENT_DOCUMENT>;
/** The options of a run. */
export type OptionsDocument = Emitted<typeof events.RUN_OPTIONS>;
/** A step of a run with its events. */
export type StepDocument = Emitted<typeof events.STEP_DOCUMENT>;
/** The steps of a run. */
export type JournalDocument = Emitted<typeof events.JOURNAL_DOCUMENT>;

/** A question that waits for a person. */
export type QuestionDocument = Emitted<typeof runs.QUESTION>;
/** The questions of all runs. */
export type QuestionsDocument = Emitted<typeof runs.QUESTIONS_DOCUMENT>;
/** An agent of a run that has ended. */
export type AgentResultDocument = Emitted<typeof runs.AGENT_RESULT>;
/** An agent in the status of a run. */
export type AgentStatusDocument = Emitted<typeof runs.AGENT_STATUS>;
/** The git worktree of an agent. */
export type AgentWorktreeDocument = Emitted<typeof runs.AGENT_WORKTREE>;
/** The fields that a status and an entry of a list share. */
export type RunHeadFields = Emitted<typeof runs.RUN_HEAD>;
/** A run that has ended. */
export type RunDocument = Emitted<typeof runs.RUN_DOCUMENT>;
/** The status of a run. */
export type StatusDocument = Emitted<typeof runs.STATUS_DOCUMENT>;
/** A list of runs. */
export type RunListDocument = Emitted<typeof runs.RUN_LIST_DOCUMENT>;
/** The runs of all folders. */
export type AllRunsDocument = Emitted<typeof runs.ALL_RUNS_DOCUMENT>;

/** Something that a turn said or did. */
export type LogEntryDocument = Emitted<typeof turns.LOG_ENTRY>;
/** A turn in a list. */
export type ListedTurnDocument = Emitted<typeof turns.LISTED_TURN>;
/** A list of turns. */
export type TurnListDocument = Emitted<typeof turns.TURN_LIST_DOCUMENT>;
/** A text of which a part may be left out. */
export type PartialTextDocument = Emitted<typeof turns.PARTIAL_TEXT>;
/** One turn as a whole. */
export type TurnDocument = Emitted<typeof turns.TURN_DOCUMENT>;
/** The files that a turn, a visit or a run has changed. */
export type DiffDocument = Emitted<typeof turns.DIFF_DOCUMENT>;
/** The latest entries of a turn. */
export type TurnDeltaDocument = Emitted<typeof turns.TURN_DELTA>;
/** The latest entries of several turns. */
export type TurnDeltasDocument = Emitted<typeof turns.TURN_DELTAS_DOCUMENT>;

/** A row of costs. */
export type CostRowDocument = Emitted<typeof reports.COST_ROW>;
/** The costs of runs. */
export type CostsDocument = Emitted<typeof reports.COSTS_DOCUMENT>;
/** The findings of lint. */
export type LintDocument = Emitted<typeof reports.LINT_DOCUMENT>;
/** The results of tests. */
export type TestsDocument = Emitted<typeof reports.TESTS_DOCUMENT>;
/** The settings in effect. */
export type ConfigDocument = Emitted<typeof reports.CONFIG_DOCUMENT>;
/** The checks of the doctor. */
export type DoctorDocument = Emitted<typeof reports.DOCTOR_DOCUMENT>;
/** The runs that prune found. */
export type PruneDocument = Emitted<typeof reports.PRUNE_DOCUMENT>;
/** The worktrees that runs have left. */
export type WorktreesDocument = Emitted<typeof reports.WORKTREES_DOCUMENT>;
/** The machines of a database. */
export type NodesDocument = Emitted<typeof reports.NODES_DOCUMENT>;
/** The outcome of a message to an agent. */
export type SayDocument = Emitted<typeof reports.SAY_DOCUMENT>;
/** The input of the command of `--notify`. */
export type NotificationDocument = Emitted<typeof reports.NOTIFICATION_DOCUMENT>;

/** A refusal of the API. */
export type ProblemDocument = Emitted<typeof api.PROBLEM_DOCUMENT>;
/** A run in the list of the API. */
export type ListedRunDocument = Emitted<typeof api.LISTED_RUN>;
/** The runs of all projects. */
export type ApiRunsDocument = Emitted<typeof api.API_RUNS_DOCUMENT>;
/** A run of the API. */
export type ApiRunDocument = Emitted<typeof api.API_RUN_DOCUMENT>;
/** The questions of all projects. */
export type ApiQuestionsDocument = Emitted<typeof api.API_QUESTIONS_DOCUMENT>;
/** The response to an answer. */
export type AnsweredDocument = Emitted<typeof api.ANSWERED_DOCUMENT>;
/** The status of a run, for MCP clients. */
export type McpStatusDocument = Emitted<typeof api.MCP_STATUS_DOCUMENT>;
/** A workflow in a list. */
export type ListedWorkflowDocument = Emitted<typeof api.LISTED_WORKFLOW>;
/** The workflows below the roots. */
export type WorkflowsDocument = Emitted<typeof api.WORKFLOWS_DOCUMENT>;
/** The response to the start of a run. */
export type StartedDocument = Emitted<typeof api.STARTED_DOCUMENT>;
/** A workflow with its findings. */
export type WorkflowDocument = Emitted<typeof api.WORKFLOW_DOCUMENT>;
