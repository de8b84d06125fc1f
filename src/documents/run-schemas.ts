import { z } from 'zod';
import {
  MODEL,
  OBSERVED_STATUS,
  OWNER,
  PHASE,
  QUESTION_FIELDS,
  QUOTA,
  RERUN_OF,
  RUN_STATUS,
  SPENDING,
  TEXT_LIST,
  TEXT_OR_NULL,
  TEXTS_BY_NAME,
  TIME,
  TIME_OR_NULL,
  TOKENS,
  TRANSITION_FIELDS,
  WHOLE_NUMBER,
} from './shared-schemas.ts';

/** A question that waits for a person. */
export const QUESTION = z.object({
  ask_id: z.string(),
  agent: z.string(),
  label: z.string(),
  state: z.string(),
  asked_at: TIME,
  ...QUESTION_FIELDS,
  task_folder: TEXT_OR_NULL,
  answer_command: z.string(),
});

/** A question with its run. */
export const ASKED_QUESTION = QUESTION.extend({
  run_id: z.string(),
  run_name: z.string(),
  run_status: OBSERVED_STATUS,
  answered_by: TEXT_OR_NULL,
});

/** The document of `raymond asks --json`. */
export const QUESTIONS_DOCUMENT = z.object({ questions: z.array(ASKED_QUESTION) });

const WARNING = z.object({
  kind: z.enum(['denied', 'session_lost', 'warning']),
  state: z.string(),
  message: z.string(),
  count: WHOLE_NUMBER,
  agent_count: WHOLE_NUMBER,
  last_at: TIME,
});

const USAGE = {
  ...SPENDING,
  models: z.array(MODEL),
  warnings: z.array(WARNING),
  warnings_left_out: WHOLE_NUMBER,
  quota: QUOTA.nullable(),
};

const LEFT = {
  kept: z.boolean().nullable(),
  commits: WHOLE_NUMBER.nullable(),
  dirty: z.boolean().nullable(),
  pushed: z.boolean().nullable(),
  discarded: z.boolean(),
};

/** The git worktree of an agent; null values are not known before the agent has left it. */
export const AGENT_WORKTREE = z.object({
  path: z.string(),
  branch: z.string(),
  base: z.string(),
  remote: TEXT_OR_NULL,
  ...LEFT,
});

const WORKSPACE = z.object({ ...AGENT_WORKTREE.shape, remote: z.string() });

const TRANSITION = z.object({ at: TIME, ...TRANSITION_FIELDS, duration_ms: z.number() });

const AGENT_TURNS = {
  started_at: TIME_OR_NULL,
  turns: WHOLE_NUMBER,
  turns_ms: z.number(),
  cost_usd: z.number(),
  tokens: TOKENS,
};

const AGENT_FIELDS = {
  id: z.string(),
  label: z.string(),
  status: PHASE,
  state: z.string(),
  result: TEXT_OR_NULL,
  error: TEXT_OR_NULL,
  joined: z.boolean(),
  worktree: AGENT_WORKTREE.nullable(),
  ...AGENT_TURNS,
};

/** An agent in the document of a run that has ended. */
export const AGENT_RESULT = z.object({ ...AGENT_FIELDS, ended_at: TIME_OR_NULL });

/** An agent in the status of a run. */
export const AGENT_STATUS = z.object({
  ...AGENT_FIELDS,
  status: z.union([PHASE, z.literal('queued')]),
  parent: TEXT_OR_NULL,
  evaluator: TEXT_OR_NULL,
  since: TIME_OR_NULL,
  until: TIME_OR_NULL,
  home: TEXT_OR_NULL,
  waits_for_workers: z
    .object({ workers: WHOLE_NUMBER, done: WHOLE_NUMBER, wanted: WHOLE_NUMBER, group: TEXT_OR_NULL })
    .nullable(),
  said_waiting: WHOLE_NUMBER,
  session_id: TEXT_OR_NULL,
  task_folder: TEXT_OR_NULL,
  stack: z.array(z.object({ state: z.string(), session_id: TEXT_OR_NULL })),
});

/** The document of `--json` when a run ends. */
export const RUN_DOCUMENT = z.object({
  run_id: z.string(),
  status: RUN_STATUS,
  exit_code: WHOLE_NUMBER,
  results: TEXTS_BY_NAME,
  started_at: TIME,
  ended_at: TIME_OR_NULL,
  worked_ms: z.number(),
  ...USAGE,
  agents: z.array(AGENT_RESULT),
  archived_agents: WHOLE_NUMBER,
  workspace: WORKSPACE.nullable(),
  questions: z.array(QUESTION),
  transitions: z.array(TRANSITION),
});

const RUN_FIELDS = {
  run_id: z.string(),
  name: z.string(),
  workflow: z.string(),
  workflow_path: z.string(),
  status: OBSERVED_STATUS,
  owner: OWNER.nullable(),
  started_at: TIME,
  rerun_of: RERUN_OF.nullable(),
};

/** The fields that the status of a run and an entry of a list have in common. */
export const RUN_HEAD = z.object(RUN_FIELDS);

/** The document of `raymond status --json`. */
export const STATUS_DOCUMENT = z.object({
  ...RUN_FIELDS,
  damage: TEXT_LIST,
  worked_ms: z.number(),
  ...USAGE,
  budget_usd: z.number().nullable(),
  iterations: WHOLE_NUMBER,
  max_iterations: WHOLE_NUMBER.nullable(),
  run_folder: TEXT_OR_NULL,
  workspace: WORKSPACE.nullable(),
  agents: z.array(AGENT_STATUS),
  archived_agents: WHOLE_NUMBER,
  open_conversations: WHOLE_NUMBER.nullable(),
  questions: z.array(QUESTION),
  transitions: z.array(TRANSITION),
  waits_for: z.string(),
  next: TEXT_OR_NULL,
});

/** A run in a list. */
export const READABLE_RUN = z.object({
  ...RUN_FIELDS,
  ...SPENDING,
  agent_counts: z.object({ live: WHOLE_NUMBER, ended: WHOLE_NUMBER, failed: WHOLE_NUMBER }),
  damage: TEXT_LIST,
  questions: WHOLE_NUMBER,
});

/** A run in a list whose files cannot be read. */
export const UNREADABLE_RUN = z.object({ run_id: z.string(), status: z.literal('unreadable'), error: z.string() });

/** The document of `raymond list --json` and `raymond recover --json`. */
export const RUN_LIST_DOCUMENT = z.object({ runs: z.array(z.union([READABLE_RUN, UNREADABLE_RUN])) });

const folder = { folder: z.string() };

/** The document of `raymond list --all --json`: each run with its folder. */
export const ALL_RUNS_DOCUMENT = z.object({
  runs: z.array(z.union([READABLE_RUN.extend(folder), UNREADABLE_RUN.extend(folder)])),
});
