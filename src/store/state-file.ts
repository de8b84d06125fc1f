import { z } from 'zod';
import type { Agent } from '../core/agent.ts';
import { type FailureKind, REACTIONS } from '../core/failure.ts';
import { OPTIONS, type Option, type Options } from '../core/options.ts';
import { END_STATUSES, RUN_VERSION, type Run } from '../core/run.ts';
import { NO_TOKENS } from '../core/tokens.ts';
import { TAG_NAMES } from '../core/transitions/index.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { addStateChecksum, type ChecksumState, checkState } from './checksum.ts';
import { MIGRATIONS } from './migrations.ts';

const count = z.number().int().nonnegative();
const micros = z.number().int().nonnegative();
const tokens = z.strictObject({ input: count, output: count, cacheRead: count, cacheWrite: count }).default(NO_TOKENS);
const time = z.number();
const stringRecord = z.record(z.string(), z.string());
const orNull = <T extends z.ZodType>(type: T) => type.nullable();

const preference = { model: orNull(z.string()), effort: orNull(z.string()) };

const session = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('open'), id: z.string() }),
  z.strictObject({ kind: z.literal('branch'), of: z.string() }),
]);

const task = orNull(z.string()).default(null);

const frame = z.strictObject({ ...preference, state: z.string(), session: orNull(session), cwd: z.string(), task });

const prompt = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('state') }),
  z.strictObject({ kind: z.literal('reminder'), text: z.string() }),
  z.strictObject({ kind: z.literal('continue') }),
]);

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
});

const pausedWhy = z.enum(['unreadable', 'unfollowable', ...(Object.keys(REACTIONS) as FailureKind[])]);

const phase = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready'), prompt, since: count }),
  z.strictObject({ kind: z.literal('running'), turn }),
  z.strictObject({ kind: z.literal('sleeping'), why: z.enum(['retry', 'usage_limit']), untilMs: time, prompt }),
  z.strictObject({
    kind: z.literal('withheld'),
    text: z.string(),
    denials: z.array(z.string()),
    folders: z.record(z.string(), orNull(z.union([z.string(), z.strictObject({ refused: z.string() })]))),
  }),
  z.strictObject({ kind: z.literal('limited'), maxVisits: count }),
  z.strictObject({
    kind: z.literal('paused'),
    why: pausedWhy,
    message: z.string(),
    prompt,
    answer: z.string().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('failed'), message: z.string() }),
  z.strictObject({ kind: z.literal('ended'), result: z.string() }),
]);

const rules = z.strictObject({
  policy: z.array(
    z.strictObject({
      tag: z.enum(TAG_NAMES),
      target: orNull(z.string()),
      attributes: stringRecord,
      payload: orNull(z.string()).exactOptional(),
    }),
  ),
  maxVisits: orNull(count),
  forceImplicit: z.boolean().exactOptional(),
  repeatable: z.boolean().exactOptional(),
});

const agent = z.strictObject({
  ...preference,
  id: z.string(),
  parent: orNull(z.string()),
  state: z.string(),
  input: orNull(z.string()),
  session: orNull(session),
  stack: z.array(frame),
  cwd: z.string(),
  task,
  variables: stringRecord,
  forkedBy: orNull(z.enum(['prompt', 'script'])).default(null),
  phase,
  rules: orNull(rules),
  tries: count,
  reminders: count,
  retries: count,
  stateMicros: micros,
  stateTokens: tokens,
  mustSay: z.boolean(),
  denied: z.array(z.string()).default([]),
  turns: count,
  forks: count,
  costMicros: micros,
  visits: z.record(z.string(), count),
});

const stop = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('budget') }),
  z.strictObject({ kind: z.literal('iterations') }),
  z.strictObject({ kind: z.literal('usage_limit'), untilMs: time, message: z.string() }),
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
  startFolder: orNull(z.string()).default(null),
  workFolders: orNull(z.strictObject({ run: z.string(), task: z.string() })).default(null),
  startedAt: time,
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
  }),
  hold: orNull(z.strictObject({ untilMs: time, message: z.string() })),
  stop: orNull(stop),
  agents: z.array(agent),
  archive: orNull(z.strictObject({ ended: count })).default(null),
};

/** A position in a journal: a step, and the byte offset after its line. */
export interface JournalPosition {
  readonly seq: number;
  readonly offset: number;
}

/** The part of the journal that a state file includes, and how to read the rest. */
export interface JournalCoverage extends JournalPosition {
  /** The highest number of an owner up to here: a later line of a lower one does not count. */
  readonly owner: number;
  /** The byte offset from which on every line has a checksum; null if none has. */
  readonly checkedFrom: number | null;
}

/** A turn that was on record when the machine went down: what its folder lacks may have been lost. */
export interface DoubtfulTurn {
  readonly agent: string;
  readonly turn: number;
}

/** The content of a state file: a run, the part of the journal up to which it is complete, and facts about its processes. */
export interface SavedRun {
  readonly run: Run;
  readonly journal: JournalCoverage;
  /** What the markers of the run's processes contain, wherever its folder is; null before version 2. */
  readonly mark: string | null;
  /** The boot of the machine during which all turns on record began, but for the doubtful ones; null if unknown. */
  readonly bootId: string | null;
  readonly doubtful: readonly DoubtfulTurn[];
}

/** The compiler checks that these schemas have the shapes of the types. */
const AGENT_SCHEMA: z.ZodType<Agent> = agent;
const RUN_SCHEMA: z.ZodType<Run> = z.strictObject(RUN_SHAPE);
const SAVED_RUN_SCHEMA: z.ZodType<Run & Omit<SavedRun, 'run'>> = z.strictObject({
  ...RUN_SHAPE,
  journal: z.strictObject({ seq: count, offset: count, owner: count, checkedFrom: orNull(count) }),
  mark: orNull(z.string()),
  bootId: orNull(z.string()),
  doubtful: z.array(z.strictObject({ agent: z.string(), turn: count })),
});

/** Serializes a run. */
export const serializeRun = (run: Run): string => `${JSON.stringify(run, null, 2)}\n`;

/** Parses a serialized run; throws if it is not one. `file` is only for messages. */
export const parseRun = (text: string, file: string): Run =>
  validateWith(RUN_SCHEMA, parseVersionedJson(text, file), file);

/** Serializes a state file. */
export const serializeSavedRun = ({ run, ...rest }: SavedRun): string =>
  addStateChecksum(JSON.stringify({ ...run, ...rest }, null, 2));

/** Parses a state file; throws if it is not one, or not as Raymond wrote it. */
export function parseSavedRun(text: string, file: string): SavedRun {
  const data = parseVersionedJson(text, file, checkState(text));
  const { journal, mark, bootId, doubtful, ...run } = validateWith(SAVED_RUN_SCHEMA, data, file);
  if (journal.seq === run.seq) return { run, journal, mark, bootId, doubtful };
  throw invalidStateFileError(
    `${file} is not a state file of Raymond: \`journal.seq\` is ${journal.seq}, but \`seq\` ${run.seq}.`,
  );
}

/** Validates a run that was put together from a state file and a journal; `files` is only for messages. */
export const validateRun = (data: unknown, files: string): Run => validateWith(RUN_SCHEMA, data, files);

/** The agent that was put together from the steps of a journal; none if the steps do not have all of it. */
export function tryParseAgent(data: unknown): readonly Agent[] {
  const parsed = AGENT_SCHEMA.safeParse(data);
  return parsed.success ? [parsed.data] : [];
}

function validateWith<T>(schema: z.ZodType<T>, data: unknown, file: string): T {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue === undefined || issue.path.length === 0 ? 'its top level' : `\`${issue.path.join('.')}\``;
  throw invalidStateFileError(`${file} is not a state file of Raymond: ${place}: ${issue?.message ?? 'wrong shape'}.`);
}

/** Parses a run; without a checksum the text is not that of a state file, and needs none. */
function parseVersionedJson(text: string, file: string, checksum?: ChecksumState): unknown {
  if (checksum === 'wrong') throw damagedStateFileError(file, 'its checksum does not match');
  const data = parseJson(text, file);
  if (typeof data !== 'object' || data === null || !('version' in data)) throw unknownVersionError(file, undefined);
  const migrate = MIGRATIONS.get(data.version);
  if (migrate === undefined) throw unknownVersionError(file, data.version);
  if (checksum === undefined || data.version === VERSION_WITHOUT_CHECKSUM) return migrate(data);
  if (checksum === 'none') throw damagedStateFileError(file, 'its checksum is missing');
  const { checksum: _checksum, ...content } = data as { readonly checksum?: unknown };
  return migrate(content);
}

const VERSION_WITHOUT_CHECKSUM = 1;

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidStateFileError(`${file} is not a state file of Raymond: it is not JSON.`, cause);
  }
}

function unknownVersionError(file: string, version: unknown): RaymondError {
  if (version === undefined)
    return invalidStateFileError(`${file} is not a state file of Raymond: it has no \`version\`.`);
  return invalidStateFileError(
    `${file} has version ${JSON.stringify(version)}; this Raymond reads versions 1 to ${RUN_VERSION}.`,
  );
}

const damagedStateFileError = (file: string, why: string): RaymondError =>
  new RaymondError(`${file} is not as Raymond wrote it: ${why}.`, {
    exitCode: EXIT.invalid,
    hint: 'The file was left untouched. Bring it back as it was, say from a backup, or start a new run.',
  });

const invalidStateFileError = (message: string, cause?: unknown): RaymondError =>
  new RaymondError(message, {
    exitCode: EXIT.invalid,
    hint: 'The file was left untouched. Use the Raymond that wrote it, or start a new run.',
    cause,
  });
