import { z } from 'zod';
import type { WrittenValue } from '../core/options/option-types.ts';
import { OPTIONS } from '../core/options/options.ts';
import type { DonePhase, TurnPrompt } from '../core/run/agent.ts';
import type { Event } from '../core/run/event.ts';
import { END_STATUSES } from '../core/run/run.ts';
import {
  MODEL,
  QUESTION_FIELDS,
  QUOTA,
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

const value: z.ZodType<WrittenValue> = z.union([z.string(), z.number(), z.boolean(), TEXT_LIST]);
const optionKeys = OPTIONS.filter(({ type }) => type.kind !== 'variables').map(({ key }) => key);

/** The options of a run by their names in the config file. */
export const RUN_OPTIONS = z.object({
  ...Object.fromEntries(optionKeys.map((key) => [key, value.nullable()])),
  vars: TEXTS_BY_NAME,
});

const written = { target: TEXT_OR_NULL, attributes: TEXTS_BY_NAME };
const TAGS = z.array(z.object({ tag: z.string(), ...written, written: z.object(written) }));

const PROMPTS = {
  state: null,
  reminder: null,
  continue: null,
  said: null,
  permissions: null,
  compact: null,
} as const satisfies Record<TurnPrompt['kind'], null>;

const DECISION = z.object({ decision: z.enum(['allow', 'always', 'deny']), turn: WHOLE_NUMBER.nullable() }).nullable();
const SESSION_USE = z.enum(['new', 'resume', 'fork']).nullable();
const VERSION = { events_version: z.literal(1) };
const AGENT = { agent: z.string(), state: z.string() };
const TURN = { ...AGENT, evaluator: TEXT_OR_NULL, turn: WHOLE_NUMBER };
const COST = {
  cost_usd: z.number(),
  estimated: z.boolean(),
  canned: z.boolean(),
  tokens: TOKENS,
  models: z.array(MODEL),
  spent_usd: z.number(),
};
const ANSWER = { requested: TAGS, implicit: z.boolean() };
const PLACE = { path: z.string(), branch: z.string() };
const CONTENT = { kept: z.boolean(), commits: WHOLE_NUMBER, dirty: z.boolean() };
const WORDS = { by: z.string(), said_at: TIME, turn: WHOLE_NUMBER.nullable(), refused: TEXT_OR_NULL };
const ENDS: Record<DonePhase['kind'], z.ZodInt> = {
  ended: WHOLE_NUMBER,
  failed: WHOLE_NUMBER,
  limited: WHOLE_NUMBER,
  cancelled: WHOLE_NUMBER,
};

/** The fields of each event besides `kind` and `at`, in their order. */
export const EVENT_FIELDS = {
  run_started: {
    ...VERSION,
    run_id: z.string(),
    name: z.string(),
    workflow: z.string(),
    workflow_path: z.string(),
    platform: z.enum(['unix', 'windows']),
    options: RUN_OPTIONS,
  },
  run_resumed: { ...VERSION, options: RUN_OPTIONS },
  run_stopping: {
    why: z.enum(['budget', 'iterations', 'usage_limit', 'workspace', 'stopped', 'interrupted']),
    until: TIME_OR_NULL,
    message: TEXT_OR_NULL,
    refused: z.object(AGENT).nullable(),
  },
  run_ended: { status: z.enum(END_STATUSES), ...SPENDING },
  run_waiting: { waits_for: TEXT_OR_NULL },
  agent_started: {
    agent: z.string(),
    label: z.string(),
    state: z.string(),
    parent: TEXT_OR_NULL,
    cwd: z.string(),
    input: TEXT_OR_NULL,
    variables: TEXTS_BY_NAME,
  },
  turn_started: {
    ...TURN,
    prompt: z.enum(Object.keys(PROMPTS) as TurnPrompt['kind'][]),
    session_id: TEXT_OR_NULL,
    session_use: SESSION_USE,
    forked_from: TEXT_OR_NULL,
  },
  turn_ended: {
    ...TURN,
    session_id: TEXT_OR_NULL,
    ...COST,
    duration_ms: z.number(),
    failure: TEXT_OR_NULL,
    denials: TEXT_LIST,
  },
  cost_corrected: { ...TURN, former_usd: z.number(), former_canned: z.boolean(), ...COST },
  printed: { ...AGENT, turn: WHOLE_NUMBER, text: z.string() },
  transition: {
    ...TRANSITION_FIELDS,
    tags: TAGS,
    ...ANSWER,
    guard: z.object({ outcome: z.string(), message: z.string() }).nullable(),
    session_id: TEXT_OR_NULL,
    session_use: SESSION_USE,
    cwd: z.string(),
    depth: WHOLE_NUMBER,
    input: TEXT_OR_NULL,
  },
  evaluated: {
    ...AGENT,
    evaluator: z.string(),
    verdict: z.enum(['confirmed', 'overridden']),
    transition: z.string(),
    why: TEXT_OR_NULL,
  },
  reminded: {
    ...AGENT,
    evaluator: TEXT_OR_NULL,
    problem: z.string(),
    message: z.string(),
    count: WHOLE_NUMBER,
    limit: WHOLE_NUMBER,
  },
  sleeping: {
    ...AGENT,
    why: z.enum(['retry', 'usage_limit']),
    until: TIME,
    failure: z.string(),
    message: z.string(),
    count: WHOLE_NUMBER,
  },
  woken: AGENT,
  session_lost: { ...AGENT, session_id: z.string(), next: z.enum(['fork', 'new']), message: z.string() },
  asked: { ...AGENT, ask_id: z.string(), ...QUESTION_FIELDS, task_folder: TEXT_OR_NULL },
  ask_answered: {
    ...AGENT,
    ask_id: z.string(),
    answer: z.string(),
    by: z.string(),
    answered_at: TIME,
    files: TEXT_LIST,
    permission: DECISION,
  },
  ask_timed_out: { ...AGENT, ask_id: z.string(), permission: DECISION },
  ask_closed: { ...AGENT, ask_id: z.string(), outcome: z.enum(['delivered', 'cancelled']) },
  said: { ...AGENT, said_id: z.string(), text: z.string(), ...WORDS },
  turn_interrupted: { ...AGENT, interrupt_id: z.string(), text: TEXT_OR_NULL, ...WORDS },
  said_delivered: { ...AGENT, said_id: z.string(), turn: WHOLE_NUMBER, via: z.enum(['turn', 'prompt']) },
  answer_withheld: {
    ...AGENT,
    ...ANSWER,
    session_id: TEXT_OR_NULL,
    session_use: SESSION_USE,
    cwd: z.string(),
    cost_usd: z.number(),
  },
  visit_limit: { ...AGENT, max_visits: WHOLE_NUMBER },
  agent_paused: { ...AGENT, why: z.string(), message: z.string() },
  agent_failed: { ...AGENT, message: z.string() },
  agent_ended: { ...AGENT, result: z.string() },
  agent_resumed: AGENT,
  worktree_opening: AGENT,
  worktree_opened: {
    ...AGENT,
    ...PLACE,
    base: z.string(),
    repository: z.string(),
    cwd: z.string(),
    remote: TEXT_OR_NULL,
    home: TEXT_OR_NULL,
  },
  worktree_leaving: AGENT,
  worktree_left: { ...AGENT, ...PLACE, ...CONTENT, remote: TEXT_OR_NULL, pushed: z.boolean().nullable() },
  worktree_discarded: { ...AGENT, ...PLACE },
  workspace_opening: { git: z.string(), ref: TEXT_OR_NULL },
  workspace_opened: {
    ...PLACE,
    base: z.string(),
    repository: z.string(),
    remote: z.string(),
    from: TEXT_OR_NULL,
  },
  workspace_leaving: PLACE,
  workspace_left: { ...PLACE, remote: z.string(), ...CONTENT, pushed: z.boolean() },
  rehomed: { ...AGENT, from: z.string(), to: z.string() },
  joining: {
    ...AGENT,
    workers: WHOLE_NUMBER,
    done: WHOLE_NUMBER,
    wanted: WHOLE_NUMBER,
    group: TEXT_OR_NULL,
    until: TIME_OR_NULL,
  },
  joined: { ...AGENT, to: z.string(), timed_out: z.boolean(), workers: z.object(ENDS), left: WHOLE_NUMBER },
  cancelling: { ...AGENT, by: z.string() },
  agent_cancelled: { ...AGENT, by: z.string() },
  quota: { quota: QUOTA.nullable(), parallel: WHOLE_NUMBER.nullable() },
  warning: { ...AGENT, message: z.string() },
} as const satisfies Record<Event['kind'], z.ZodRawShape>;

type Kind = Event['kind'];
type EventOf<K extends Kind> = z.infer<z.ZodObject<(typeof EVENT_FIELDS)[K]>> & {
  readonly kind: K;
  readonly at: string;
};

const [first, ...others] = (Object.keys(EVENT_FIELDS) as Kind[]).map((kind) =>
  z.object({ kind: z.literal(kind), at: TIME, ...EVENT_FIELDS[kind] }),
);
if (first === undefined) throw new Error('there are no events');

/** A line of `--events`, `--log-file` and `logs --json`. */
export const EVENT_DOCUMENT = z.discriminatedUnion('kind', [first, ...others]) as unknown as z.ZodType<
  { [K in Kind]: EventOf<K> }[Kind]
>;

/** A step of a run with its events. */
export const STEP_DOCUMENT = z.object({ seq: z.int(), events: z.array(EVENT_DOCUMENT) });

/** The steps of a run, page by page. */
export const JOURNAL_DOCUMENT = z.object({ steps: z.array(STEP_DOCUMENT), more: z.boolean() });
