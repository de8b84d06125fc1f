import { z } from 'zod';
import { OPTIONS, type Option, type Options } from '../core/options/options.ts';
import type { Agent } from '../core/run/agent.ts';
import { END_STATUSES, RUN_VERSION, type Run } from '../core/run/run.ts';
import { NO_TOKENS } from '../core/run/tokens.ts';
import { type FailureKind, REACTIONS } from '../language/failure.ts';
import { ASKING_PHASE_SCHEMA, PERMISSION_QUESTION_SCHEMA, PROMPT_SCHEMA as prompt } from './asking-phase.ts';
import { checkState } from './checksum.ts';
import { INTERRUPTION_SCHEMA, SAID_SCHEMA } from './message-schema.ts';
import { CHANGED_FILE_SCHEMA, PINNED_CODE_SCHEMA } from './pinned-code-schema.ts';
import { QUOTA_SCHEMA } from './quota-schema.ts';
import { rulesSchema } from './rules-schema.ts';
import type { RunStart, SavedRun } from './saved-run.ts';
import { invalidStateFileError, migrateRunData, parseVersionedJson, validateWith } from './versioned-json.ts';
import { WORKSPACE_SCHEMA, WORKTREE_SCHEMA } from './worktree-schema.ts';

const count = z.number().int().nonnegative();
const micros = z.number().int().nonnegative();
const tokens = z.strictObject({ input: count, output: count, cacheRead: count, cacheWrite: count }).default(NO_TOKENS);
const time = z.number();
const stringRecord = z.record(z.string(), z.string());
const orNull = <T extends z.ZodType>(type: T) => type.nullable();

const preference = { model: orNull(z.string()), effort: orNull(z.string()) };

const sessionFields = { compact: z.literal(true).exactOptional(), model: z.string().exactOptional() };

const session = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('open'), id: z.string(), ...sessionFields }),
  z.strictObject({ kind: z.literal('branch'), of: z.string(), ...sessionFields }),
]);

const task = orNull(z.string()).default(null);
// Older state files know one workflow only.
const nesting = count.default(0);

const visitCounts = z.record(z.string(), count);

const frame = z.strictObject({
  ...preference,
  state: z.string(),
  session: orNull(session),
  cwd: z.string(),
  task,
  callVisits: visitCounts.exactOptional(),
  nesting,
});

const sessionUse = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('new'), id: z.string() }),
  z.strictObject({ kind: z.literal('resume'), id: z.string() }),
  z.strictObject({ kind: z.literal('fork'), id: z.string(), from: z.string() }),
]);

const turn = z.strictObject({
  number: count,
  prompt,
  session: orNull(sessionUse),
  startedAt: time,
  // A turn of an earlier Raymond has no cap on record; until it ends, nothing else is started beside it.
  capMicros: orNull(micros).default(null),
  asks: count.exactOptional(),
});

const pausedWhy = z.enum(['unreadable', 'changed_code', 'unfollowable', ...(Object.keys(REACTIONS) as FailureKind[])]);

const donePhases = [
  z.strictObject({ kind: z.literal('limited'), maxVisits: count }),
  z.strictObject({ kind: z.literal('cancelled'), by: z.string() }),
  z.strictObject({ kind: z.literal('failed'), message: z.string() }),
  z.strictObject({ kind: z.literal('ended'), result: z.string() }),
] as const;

const phase = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready'), prompt, since: count }),
  z.strictObject({ kind: z.literal('running'), turn }),
  z.strictObject({
    kind: z.literal('sleeping'),
    why: z.enum(['retry', 'usage_limit']),
    untilMs: time,
    waitMs: time.exactOptional(),
    prompt,
  }),
  z.strictObject({
    kind: z.literal('withheld'),
    text: z.string(),
    denials: z.array(z.string()),
    folders: z.record(z.string(), orNull(z.union([z.string(), z.strictObject({ refused: z.string() })]))),
    fingerprint: z.string().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('worktree'), outcome: orNull(z.discriminatedUnion('kind', donePhases)) }),
  z.strictObject({
    kind: z.literal('paused'),
    why: pausedWhy,
    message: z.string(),
    prompt,
    answer: z.string().exactOptional(),
    changed: z.array(CHANGED_FILE_SCHEMA).exactOptional(),
  }),
  ASKING_PHASE_SCHEMA,
  z.strictObject({ kind: z.literal('parked'), prompt }),
  z.strictObject({
    kind: z.literal('joining'),
    join: count,
    workers: count,
    done: count,
    wanted: count,
    group: orNull(z.string()),
    cancel: z.boolean(),
    ending: count,
    untilMs: orNull(time),
    timeoutMs: time.exactOptional(),
    timeoutNext: orNull(z.string()),
    timedOut: z.boolean(),
  }),
  z.strictObject({ kind: z.literal('cancelling'), turn, by: z.string() }),
  ...donePhases,
]);

const evaluation = z.strictObject({
  index: count,
  file: z.string(),
  text: z.string(),
  denials: z.array(z.string()),
  fingerprint: z.string().exactOptional(),
  transition: z.string(),
  matches: z.array(orNull(z.union([z.boolean(), z.literal('timeout')]))),
  session: orNull(session),
  repeatable: z.boolean(),
});

const agentFields = z.strictObject({
  ...preference,
  id: z.string(),
  parent: orNull(z.string()),
  state: z.string(),
  input: orNull(z.union([z.string(), z.strictObject({ text: z.string(), resultOf: z.string() })])),
  session: orNull(session),
  stack: z.array(frame),
  cwd: z.string(),
  task,
  nesting,
  variables: stringRecord,
  forkedBy: orNull(z.enum(['prompt', 'script'])).default(null),
  worktree: orNull(WORKTREE_SCHEMA).default(null),
  node: orNull(z.string()).default(null),
  joinedBy: orNull(count).default(null),
  phase,
  rules: orNull(rulesSchema),
  tries: count,
  reminders: count,
  retries: count,
  stateMicros: micros,
  stateTokens: tokens,
  tagRequired: z.boolean(),
  denied: z.array(z.string()).default([]),
  evaluation: orNull(evaluation).default(null),
  sessionUse: orNull(z.enum(['new', 'resume', 'fork'])).default(null),
  error: orNull(z.string()).default(null),
  askId: orNull(z.string()).default(null),
  results: orNull(count).default(null),
  messages: z.array(SAID_SCHEMA).default([]),
  interruption: orNull(INTERRUPTION_SCHEMA).default(null),
  permissions: z.array(PERMISSION_QUESTION_SCHEMA).default([]),
  turns: count,
  forks: count,
  costMicros: micros,
  visits: visitCounts,
  callVisits: visitCounts.default({}),
  refused: z.array(z.string()).default([]),
  streaks: z.record(z.string(), z.strictObject({ fingerprint: z.string(), visits: count })).default({}),
  evaluations: visitCounts.default({}),
});

/**
 * Earlier journals and state files have `resultOf` beside the input, and did not take it back when the input became the answer of a
 * person. A step of theirs may follow on a state file of ours.
 */
function joinResultOf(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('resultOf' in data) || !('input' in data)) return data;
  const { resultOf, input, ...rest } = data;
  const text = typeof input === 'object' && input !== null && 'text' in input ? input.text : input;
  const isResult = resultOf !== null && text !== null && !('askId' in rest && rest.askId !== null);
  return { ...rest, input: isResult ? { text, resultOf } : text };
}

const agent = z.preprocess(joinResultOf, agentFields);

const stop = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('budget') }),
  z.strictObject({ kind: z.literal('iterations') }),
  z.strictObject({ kind: z.literal('usage_limit'), untilMs: time, message: z.string() }),
  z.strictObject({ kind: z.literal('workspace'), message: z.string() }),
  z.strictObject({ kind: z.literal('stopped') }),
  z.strictObject({ kind: z.literal('interrupted') }),
]);

/** A state file that is older than an option has the option's default. */
const optionSchema = ({ type, default: value }: Option): z.ZodType =>
  (type.nullable ? orNull(keptSchema(type)) : keptSchema(type)).default(value);

function keptSchema({ kind, choices }: Option['type']): z.ZodType {
  switch (kind) {
    case 'amount':
    case 'duration':
    case 'percent':
    case 'count':
      return count;
    case 'boolean':
      return z.boolean();
    case 'text':
      return z.string();
    case 'choice':
      return z.enum(choices);
    case 'texts':
      return z.array(z.string());
    case 'variables':
      return stringRecord;
  }
}

// Which schema belongs to which option is lost in a list; the table of options has checked it.
const options = z.strictObject(
  Object.fromEntries(OPTIONS.map((option) => [option.name, optionSchema(option)])),
) as unknown as z.ZodType<Options>;

const RUN_SHAPE = {
  version: z.literal(RUN_VERSION),
  id: z.string(),
  name: z.string(),
  status: z.enum(['running', ...END_STATUSES]),
  workflow: z.strictObject({ name: z.string(), path: z.string(), platform: z.enum(['unix', 'windows']) }),
  workflows: z.record(z.string(), z.strictObject({ path: z.string(), variables: stringRecord })).default({}),
  code: orNull(PINNED_CODE_SCHEMA).default(null),
  startFolder: orNull(z.string()).default(null),
  workFolders: orNull(
    z.strictObject({ run: z.string(), task: z.string(), worktrees: z.string().exactOptional() }),
  ).default(null),
  workspace: orNull(WORKSPACE_SCHEMA).default(null),
  startedAt: time,
  attended: z.boolean().default(false),
  options,
  seq: count,
  iterations: count,
  ledger: z.strictObject({
    spentMicros: micros,
    estimatedMicros: micros,
    cannedMicros: micros.default(0),
    tokens,
    turns: count,
    states: z.record(z.string(), z.strictObject({ turns: count, micros })),
    unknown: z
      .array(
        z.strictObject({
          agent: z.string(),
          turn: count,
          state: z.string(),
          evaluator: orNull(z.string()),
          micros,
          canned: z.boolean(),
        }),
      )
      .exactOptional(),
  }),
  hold: orNull(z.strictObject({ untilMs: time, message: z.string(), reserve: z.literal(true).exactOptional() })),
  quota: orNull(QUOTA_SCHEMA).default(null),
  stop: orNull(stop),
  agents: z.array(agent),
  archive: orNull(z.strictObject({ ended: count })).default(null),
  joins: z.boolean().default(false),
  grants: z
    .strictObject({ rules: z.array(z.string()), folders: z.array(z.string()) })
    .default({ rules: [], folders: [] }),
};

/** The facts about a run's processes in its run file and the first line of its journal. */
const PROCESS_SHAPE = { mark: orNull(z.string()), bootId: orNull(z.string()) };

/** The compiler checks that these schemas have the shapes of the types. */
const AGENT_SCHEMA: z.ZodType<Agent> = agent;
const RUN_SCHEMA: z.ZodType<Run> = z.strictObject(RUN_SHAPE);
const SAVED_RUN_SCHEMA: z.ZodType<Run & Omit<SavedRun, 'run'>> = z.strictObject({
  ...RUN_SHAPE,
  ...PROCESS_SHAPE,
  journal: z.strictObject({ seq: count, offset: count, owner: count, checkedFrom: orNull(count) }),
  doubtful: z.array(z.strictObject({ agent: z.string(), turn: count })),
});

const RUN_START_SCHEMA: z.ZodType<Run & Omit<RunStart, 'run'>> = z.strictObject({ ...RUN_SHAPE, ...PROCESS_SHAPE });

/** Serializes a run. */
export const serializeRun = (run: Run): string => `${JSON.stringify(run, null, 2)}\n`;

/** Parses a serialized run; throws if it is not one. `file` is only for messages. */
export const parseRun = (text: string, file: string): Run =>
  validateWith(RUN_SCHEMA, parseVersionedJson(text, file), file);

/** Parses a state file; throws if it is not one, or not as Raymond wrote it. */
export function parseSavedRun(text: string, file: string): SavedRun {
  const data = parseVersionedJson(text, file, checkState(text));
  const { journal, mark, bootId, doubtful, ...run } = validateWith(SAVED_RUN_SCHEMA, data, file);
  if (journal.seq === run.seq) return { run, journal, mark, bootId, doubtful };
  throw invalidStateFileError(
    `${file} is not a state file of Raymond: \`journal.seq\` is ${journal.seq}, but \`seq\` ${run.seq}.`,
  );
}

/** Parses what the first line of a journal says about the start of its run; throws if it cannot be right. */
export function parseRunStart(data: unknown, file: string): RunStart {
  const { mark, bootId, ...run } = validateWith(RUN_START_SCHEMA, migrateRunData(data, file), file);
  return { run, mark, bootId };
}

/** Validates a run that was put together from a state file and a journal; `files` is only for messages. */
export const validateRun = (data: unknown, files: string): Run => validateWith(RUN_SCHEMA, data, files);

/** The agent that was put together from the steps of a journal; none if the steps do not have all of it. */
export function tryParseAgent(data: unknown): readonly Agent[] {
  const parsed = AGENT_SCHEMA.safeParse(data);
  return parsed.success ? [parsed.data] : [];
}
