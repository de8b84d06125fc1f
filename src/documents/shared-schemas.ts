import { z } from 'zod';
import type { Phase } from '../core/run/agent.ts';
import type { ObservedStatus, OwnerState } from '../core/run/observed-status.ts';
import { QUOTA_STATUSES } from '../core/run/quota.ts';
import { END_STATUSES } from '../core/run/run.ts';

/*
 * Schemas describe documents as they are emitted: names in snake_case, money in dollars, times in ISO 8601. Only the server, the MCP
 * server and tests load them; builders use their types (`types.ts`), so that no start of the command loads zod.
 */

/** A time in UTC. */
export const TIME = z.iso.datetime();

/** A time in UTC, or null. */
export const TIME_OR_NULL = TIME.nullable();

/** A count, an index or a duration. */
export const WHOLE_NUMBER = z.int().nonnegative();

/** A text, or null if there is none. */
export const TEXT_OR_NULL = z.string().nullable();

/** Texts in an order that means something. */
export const TEXT_LIST = z.array(z.string());

/** Texts by name. */
export const TEXTS_BY_NAME = z.record(z.string(), z.string());

/** The tokens of turns, as Claude Code names them. */
export const TOKENS = z.object({
  input: WHOLE_NUMBER,
  output: WHOLE_NUMBER,
  cache_read: WHOLE_NUMBER,
  cache_creation: WHOLE_NUMBER,
});

/** The fields of everything that has spent something. */
export const SPENDING = {
  cost_usd: z.number(),
  estimated_usd: z.number(),
  canned_usd: z.number(),
  tokens: TOKENS,
};

/** The use of one model. */
export const MODEL = z.object({ model: z.string(), cost_usd: z.number(), tokens: TOKENS });

/** How full the windows of a subscription are. */
export const QUOTA = z.object({
  account: z.string(),
  windows: z.array(
    z.object({
      type: z.string(),
      percent: z.number().nullable(),
      status: z.enum(QUOTA_STATUSES),
      resets_at: TIME,
      reported_at: TIME,
    }),
  ),
});

const EACH_STATUS = {
  running: null,
  stopping: null,
  crashed: null,
  elsewhere: null,
  completed: null,
  failed: null,
  waiting: null,
  paused: null,
  budget_exceeded: null,
  iteration_limit: null,
  interrupted: null,
} as const satisfies Record<ObservedStatus, null>;

/** The status of a run as seen from outside. */
export const OBSERVED_STATUS = z.enum(Object.keys(EACH_STATUS) as ObservedStatus[]);

/** The status of a run by its own account. */
export const RUN_STATUS = z.enum(['running', ...END_STATUSES]);

const EACH_PHASE = {
  ready: null,
  running: null,
  sleeping: null,
  withheld: null,
  worktree: null,
  limited: null,
  paused: null,
  asking: null,
  joining: null,
  cancelling: null,
  cancelled: null,
  failed: null,
  ended: null,
} as const satisfies Record<Exclude<Phase['kind'], 'parked'>, null>;

/** The phase of an agent. */
export const PHASE = z.enum(Object.keys(EACH_PHASE) as Exclude<Phase['kind'], 'parked'>[]);

const EACH_OWNER_STATE = {
  alive: null,
  gone: null,
  elsewhere: null,
  unreadable: null,
} as const satisfies Record<OwnerState, null>;

/** The process that drives a run, or last did. */
export const OWNER = z.object({
  state: z.enum(Object.keys(EACH_OWNER_STATE) as OwnerState[]),
  pid: z.int().nullable(),
  host: TEXT_OR_NULL,
  node: z.object({ name: z.string(), slots: WHOLE_NUMBER }).exactOptional(),
});

const UPLOADS = z.object({
  slots: z.array(z.object({ name: z.string(), mime: TEXT_OR_NULL })),
  bucket: z.boolean(),
  max_count: WHOLE_NUMBER.nullable(),
  max_size: WHOLE_NUMBER.nullable(),
  max_total_size: WHOLE_NUMBER.nullable(),
  mime: TEXT_LIST,
});

/** The fields of a question to a person, in its event and in documents. */
export const QUESTION_FIELDS = {
  question: z.string(),
  next: z.string(),
  timeout_at: TIME_OR_NULL,
  timeout_next: TEXT_OR_NULL,
  display_files: z.array(z.object({ path: z.string(), label: TEXT_OR_NULL })),
  uploads: UPLOADS.nullable(),
  choices: z.object({ labels: TEXT_LIST, other: z.boolean(), many: z.boolean() }).nullable(),
  permission: z
    .object({
      tool: z.string(),
      input: z.string(),
      reason: TEXT_OR_NULL,
      rules: TEXT_LIST,
      folders: TEXT_LIST,
      form: z.enum(['tool', 'question', 'plan']),
    })
    .nullable(),
};

/** The fields of a transition that all documents have. */
export const TRANSITION_FIELDS = {
  agent: z.string(),
  from: z.string(),
  tag: z.string(),
  to: TEXT_OR_NULL,
  decided_by: z.enum(['answer', 'evaluator', 'guard']),
  decider: TEXT_OR_NULL,
  why: TEXT_OR_NULL,
  cost_usd: z.number(),
  tokens: TOKENS,
};
