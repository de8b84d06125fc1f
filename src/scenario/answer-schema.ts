import { z } from 'zod';
import { type AnswerCase, CANNED_FAILURES, type CannedAnswer, type VisitAnswers } from './scenario.ts';
import { FILES, goesWithKeys, ONLY_WITH_USAGE_LIMIT, requiresOneOf, TEXT_TYPES } from './schema-keywords.ts';

/*
 * The schema of the answers in a scenario file. An error message says what is expected, as a phrase that follows "must be".
 * A problem beyond the shape of one value is a custom issue with a whole sentence; `key: true` reports it at the key.
 * `describe` and `meta` are for editors: they become part of the JSON Schema, where an `id` makes a definition.
 */

/** The message where a text is expected; numbers and booleans are then read as texts. */
export const EXPECTED_TEXT = 'a text';

/** The schema of a text. */
export const textSchema = z.string({ error: EXPECTED_TEXT }).meta({ type: TEXT_TYPES });
/** The schema of an amount of dollars or seconds. */
export const amountSchema = z.number({ error: 'a number of at least 0' }).min(0, { error: 'a number of at least 0' });
/** The schema of a number of things. */
export const countSchema = z
  .int({ error: 'a whole number of at least 0' })
  .min(0, { error: 'a whole number of at least 0' });
const textListSchema = z.array(textSchema, { error: 'a list of texts' });
/** The schema of an exit code. */
export const exitCodeSchema = z
  .int({ error: 'a whole number from 0 to 255' })
  .min(0, { error: 'a whole number from 0 to 255' })
  .max(255, { error: 'a whole number from 0 to 255' });

const booleanSchema = z.boolean({ error: 'true or false' });

/** The schema of files to write, by name, and of folders to make, which have no content. */
export const filesSchema = z
  .record(z.string(), z.union([textSchema, z.null()], { error: EXPECTED_TEXT }), {
    error: 'a mapping of files to their contents',
  })
  .superRefine(checkFiles)
  .meta(FILES)
  .transform((value) => Object.fromEntries(Object.entries(value).map(([name, content]) => [name, content ?? ''])));

const SUMMARY_SHAPE = {
  cost: amountSchema.optional().describe('The cost of the summary in dollars.'),
  fail: booleanSchema.optional().describe('Whether it fails, so that the conversation continues as it is.'),
};

const TURN_SHAPE = {
  text: textSchema.optional().describe('The final answer; its tag is followed.'),
  write: filesSchema
    .optional()
    .describe(
      'Files to write into the working directory, with their contents; a name that ends in `/` makes an empty folder.',
    ),
  uses: textListSchema.optional().describe('Tools that are shown as used, such as `Bash npm test`; they are not run.'),
  deny: textListSchema.optional().describe('Tools that were not permitted, such as `Bash npm install`.'),
  cost: amountSchema.optional().describe('The cost of the turn in dollars.'),
  seconds: amountSchema.optional().describe('How many seconds it takes.'),
  fail: z
    .enum(CANNED_FAILURES, { error: 'the name of a failure' })
    .optional()
    .describe('The way in which the turn fails.'),
  resets_in: amountSchema
    .optional()
    .describe('With `fail: usage_limit` or `quota`: the seconds until the limit ends. The default is 60.'),
  quota: amountSchema
    .max(200, { error: 'a percentage from 0 to 200' })
    .optional()
    .describe('The used percentage of the 5-hour window that the turn reports.'),
  exit: exitCodeSchema.optional().describe('The exit code of a script.'),
  stderr: textSchema.optional().describe('What a script prints to stderr.'),
  say: textSchema
    .optional()
    .describe('What a person says to the agent during this turn; it comes before the next prompt of the agent.'),
  crash: booleanSchema.optional().describe('Whether Raymond is killed during this turn.'),
  compact: z
    .strictObject(SUMMARY_SHAPE, { error: 'a mapping with `cost` or `fail`' })
    .optional()
    .describe('The summary of the conversation before this answer, where a `<compact>` led here.'),
};

type RawTurn = z.infer<z.ZodObject<typeof TURN_SHAPE>>;

const ANSWER_CONTENT_KEYS = ['text', 'write', 'uses', 'deny', 'fail', 'exit', 'stderr', 'crash'] as const;

const TEXT_OR_MAPPING = 'a text or a mapping';
/** The schema of a text or a mapping, which is a definition of the JSON Schema. */
export const textOr = <T extends z.ZodType>(mappingSchema: T, id: string) =>
  z.union([textSchema, mappingSchema], { error: TEXT_OR_MAPPING }).meta({ id });

const nonEmptyListSchema = <T extends z.ZodType>(itemSchema: T) =>
  z.array(itemSchema, { error: `a list, each entry ${TEXT_OR_MAPPING}` }).min(1, { error: 'a list of at least one' });

const turnMappingSchema = z
  .strictObject(TURN_SHAPE)
  .superRefine(checkTurn)
  .meta({
    anyOf: requiresOneOf(ANSWER_CONTENT_KEYS),
    dependencies: { resets_in: ONLY_WITH_USAGE_LIMIT },
  });
const turnSchema = textOr(turnMappingSchema, 'turn').transform((value) =>
  toCannedAnswer(typeof value === 'string' ? { text: value } : value),
);

const VISIT_SHAPE = {
  ...TURN_SHAPE,
  turns: nonEmptyListSchema(turnSchema).optional().describe('The turns of one visit, in order; the last is repeated.'),
};

type RawVisit = z.infer<z.ZodObject<typeof VISIT_SHAPE>>;

const visitMappingSchema = z
  .strictObject(VISIT_SHAPE)
  .superRefine(checkVisit)
  .meta({
    anyOf: requiresOneOf([...ANSWER_CONTENT_KEYS, 'turns']),
    dependencies: { resets_in: ONLY_WITH_USAGE_LIMIT, turns: goesWithKeys('turns') },
  });
const visitSchema = textOr(visitMappingSchema, 'visit').transform((value) =>
  toVisitAnswers(typeof value === 'string' ? { text: value } : value),
);

const ENTRY_SHAPE = {
  ...VISIT_SHAPE,
  when: z
    .record(z.string(), textSchema, { error: 'a mapping of variables to values' })
    .optional()
    .describe('The values that an agent’s variables must have for this answer to be used.'),
  visits: nonEmptyListSchema(visitSchema).optional().describe('With `when`: one answer for each visit.'),
};

type RawEntry = z.infer<z.ZodObject<typeof ENTRY_SHAPE>>;

const entryMappingSchema = z
  .strictObject(ENTRY_SHAPE)
  .superRefine(checkEntry)
  .meta({
    anyOf: requiresOneOf([...ANSWER_CONTENT_KEYS, 'turns', 'visits']),
    dependencies: {
      resets_in: ONLY_WITH_USAGE_LIMIT,
      turns: goesWithKeys('turns', 'when'),
      visits: { required: ['when'], ...goesWithKeys('visits', 'when') },
    },
  });
const entrySchema = textOr(entryMappingSchema, 'entry').transform((value): AnswerCase => {
  const { when = {}, visits, ...content } = typeof value === 'string' ? { text: value } : value;
  return { when, everyVisit: visits === undefined, visits: visits ?? [toVisitAnswers(content)] };
});

/** The schema of the answers for one state. */
export const stateAnswersSchema = z
  .union([entrySchema, nonEmptyListSchema(entrySchema)], { error: 'a text, a mapping or a list of them' })
  .meta({ id: 'state' })
  .transform((value): readonly AnswerCase[] => (isList(value) ? groupCases(value) : [value]));

/** The keys that an answer can have. */
export const ANSWER_KEYS = Object.keys(ENTRY_SHAPE);

/** Lists the keys that are allowed at a path within `answers`. */
export const answerKeysAt = (path: readonly PropertyKey[]): readonly string[] =>
  path.includes('compact')
    ? Object.keys(SUMMARY_SHAPE)
    : path.includes('turns')
      ? Object.keys(TURN_SHAPE)
      : path.includes('visits')
        ? Object.keys(VISIT_SHAPE)
        : ANSWER_KEYS;

/** Explains why no file may be written to a path; undefined if one may. `name` is used in the message. */
export function explainInvalidPath(path: string, name = path): string | undefined {
  const segments = path.split(/[/\\]/);
  const outside = segments.includes('..') || segments[0] === '' || /^[A-Za-z]:/.test(path);
  if (path === '' || path.includes('\0') || ['', '.'].includes(segments.at(-1) ?? ''))
    return `\`${name}\` cannot be the name of a file`;
  return outside ? `\`${name}\` leaves the working directory: name a file inside it, without \`..\`` : undefined;
}

/** True if a name is that of a folder. */
export const isFolderName = (name: string): boolean => name.endsWith('/');

/** Explains why a file with this content, or an empty folder, cannot be made; undefined if it can. */
export function explainInvalidFile(name: string, content: string): string | undefined {
  if (!isFolderName(name)) return explainInvalidPath(name);
  const problem = content === '' ? undefined : `\`${name}\` is a folder and holds no text: name a file in it`;
  return explainInvalidPath(name.slice(0, -1), name) ?? problem;
}

/** Where a check of zod reports its issues. */
export type IssueCollector = {
  addIssue(issue: { code: 'custom'; path?: string[]; message: string; params?: object }): void;
};

/** Checks that all keys are names of files in the working directory. */
export function checkFileNames(byName: object, issues: IssueCollector): void {
  for (const name of Object.keys(byName)) {
    const problem = explainInvalidPath(name);
    if (problem !== undefined) addKeyIssue(name, problem, issues);
  }
}

function checkFiles(value: Readonly<Record<string, string | null>>, issues: IssueCollector): void {
  for (const [name, content] of Object.entries(value)) {
    const problem = explainInvalidFile(name, content ?? '');
    if (problem !== undefined) addKeyIssue(name, problem, issues);
    else if (content === null && !isFolderName(name))
      issues.addIssue({ code: 'custom', path: [name], message: `\`${name}\` must be ${EXPECTED_TEXT}, not nothing` });
  }
}

function checkTurn(value: RawTurn, issues: IssueCollector): void {
  if (ANSWER_CONTENT_KEYS.every((key) => value[key] === undefined))
    issues.addIssue({
      code: 'custom',
      message: `this answer says nothing: give it one of ${ANSWER_CONTENT_KEYS.join(', ')}`,
    });
  if (value.resets_in !== undefined && value.fail !== 'usage_limit' && value.quota === undefined)
    addKeyIssue('resets_in', '`resets_in` goes with `fail: usage_limit` or `quota` only: remove it', issues);
}

function checkVisit(value: RawVisit, issues: IssueCollector): void {
  if (value.turns === undefined) checkTurn(value, issues);
  else checkExclusiveKey('turns', Object.keys(TURN_SHAPE), value, issues);
}

function checkEntry(value: RawEntry, issues: IssueCollector): void {
  if (value.visits === undefined) checkVisit(value, issues);
  else checkExclusiveKey('visits', Object.keys(VISIT_SHAPE), value, issues);
  if (value.visits !== undefined && value.when === undefined)
    addKeyIssue('visits', '`visits` needs `when`: without it, write the answers as a list', issues);
}

/** Checks that nothing is given beside a list that belongs into it. */
export function checkExclusiveKey(
  listKey: string,
  otherKeys: readonly string[],
  value: object,
  issues: IssueCollector,
): void {
  for (const key of otherKeys.filter((name) => name in value)) {
    addKeyIssue(key, `\`${key}\` cannot be used beside \`${listKey}\`: move it into one of them`, issues);
  }
}

/** Reports a problem at a key. */
export function addKeyIssue(key: string, message: string, issues: IssueCollector): void {
  issues.addIssue({ code: 'custom', path: [key], message, params: { key: true } });
}

const isList = (value: AnswerCase | readonly AnswerCase[]): value is readonly AnswerCase[] => Array.isArray(value);

/** Makes each entry with `when` a case of its own; the others become the visits of all other agents, in order. */
function groupCases(entries: readonly AnswerCase[]): readonly AnswerCase[] {
  const conditional = entries.filter(({ when }) => Object.keys(when).length > 0);
  const unconditional = entries.filter(({ when }) => Object.keys(when).length === 0);
  if (unconditional.length === 0) return conditional;
  return [...conditional, { when: {}, everyVisit: false, visits: unconditional.flatMap(({ visits }) => visits) }];
}

const toVisitAnswers = ({ turns, ...content }: RawVisit): VisitAnswers => turns ?? [toCannedAnswer(content)];

const toCannedAnswer = (value: RawTurn): CannedAnswer => ({
  text: value.text ?? '',
  write: value.write ?? {},
  uses: value.uses ?? [],
  deny: value.deny ?? [],
  costUsd: value.cost ?? 0,
  seconds: value.seconds ?? 0,
  fail: value.fail ?? null,
  resetsInSeconds: value.resets_in ?? 60,
  quotaPercent: value.quota ?? null,
  exit: value.exit ?? 0,
  stderr: value.stderr ?? '',
  say: value.say ?? null,
  crash: value.crash ?? false,
  compact: { costUsd: value.compact?.cost ?? 0, fails: value.compact?.fail ?? false },
});
