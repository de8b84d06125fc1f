import { z } from 'zod';
import { type AnswerCase, CANNED_FAILURES, type CannedAnswer, type VisitAnswers } from './scenario.ts';

/*
 * The shape of the answers in a scenario file. A message here is what was wanted: it follows "must be". What is wrong beyond the shape
 * of one value is a custom issue with a whole sentence; `key: true` puts it where the key stands.
 */

/** What is said where a text is wanted. */
export const EXPECTED_TEXT = 'a text';

export const textSchema = z.string({ error: EXPECTED_TEXT });
export const amountSchema = z.number({ error: 'a number from 0' }).min(0, { error: 'a number from 0' });
export const countSchema = z.int({ error: 'a whole number from 0' }).min(0, { error: 'a whole number from 0' });
const textListSchema = z.array(textSchema, { error: 'a list of texts' });
export const exitCodeSchema = z
  .int({ error: 'a whole number from 0 to 255' })
  .min(0, { error: 'a whole number from 0 to 255' })
  .max(255, { error: 'a whole number from 0 to 255' });

const booleanSchema = z.boolean({ error: 'true or false' });

/** Files that are written, with their contents, and folders that are made, which have none. */
export const filesSchema = z
  .record(z.string(), z.union([textSchema, z.null()], { error: EXPECTED_TEXT }), {
    error: 'a mapping of files to their contents',
  })
  .superRefine(checkFiles)
  .transform((value) => Object.fromEntries(Object.entries(value).map(([name, content]) => [name, content ?? ''])));

const TURN_SHAPE = {
  text: textSchema.optional(),
  write: filesSchema.optional(),
  uses: textListSchema.optional(),
  deny: textListSchema.optional(),
  cost: amountSchema.optional(),
  seconds: amountSchema.optional(),
  fail: z.enum(CANNED_FAILURES, { error: 'the name of a failure' }).optional(),
  resets_in: amountSchema.optional(),
  exit: exitCodeSchema.optional(),
  stderr: textSchema.optional(),
  crash: booleanSchema.optional(),
};

type RawTurn = z.infer<z.ZodObject<typeof TURN_SHAPE>>;

/** What makes a turn a turn: one of these must be there. */
export const ANSWER_CONTENT_KEYS = ['text', 'write', 'uses', 'deny', 'fail', 'exit', 'stderr', 'crash'] as const;

const TEXT_OR_MAPPING = 'a text or a mapping';
const nonEmptyListSchema = <T extends z.ZodType>(itemSchema: T) =>
  z.array(itemSchema, { error: `a list, each entry ${TEXT_OR_MAPPING}` }).min(1, { error: 'a list of at least one' });

const turnSchema = z
  .union([textSchema, z.strictObject(TURN_SHAPE).superRefine(checkTurn)], { error: TEXT_OR_MAPPING })
  .transform((value) => toCannedAnswer(typeof value === 'string' ? { text: value } : value));

const VISIT_SHAPE = { ...TURN_SHAPE, turns: nonEmptyListSchema(turnSchema).optional() };

type RawVisit = z.infer<z.ZodObject<typeof VISIT_SHAPE>>;

const visitSchema = z
  .union([textSchema, z.strictObject(VISIT_SHAPE).superRefine(checkVisit)], { error: TEXT_OR_MAPPING })
  .transform((value) => toVisitAnswers(typeof value === 'string' ? { text: value } : value));

const ENTRY_SHAPE = {
  ...VISIT_SHAPE,
  when: z.record(z.string(), textSchema, { error: 'a mapping of variables to values' }).optional(),
  visits: nonEmptyListSchema(visitSchema).optional(),
};

type RawEntry = z.infer<z.ZodObject<typeof ENTRY_SHAPE>>;

const entrySchema = z
  .union([textSchema, z.strictObject(ENTRY_SHAPE).superRefine(checkEntry)], { error: TEXT_OR_MAPPING })
  .transform((value): AnswerCase => {
    const { when = {}, visits, ...content } = typeof value === 'string' ? { text: value } : value;
    return { when, everyVisit: visits === undefined, visits: visits ?? [toVisitAnswers(content)] };
  });

/** What is answered in one state. */
export const stateAnswersSchema = z
  .union([entrySchema, nonEmptyListSchema(entrySchema)], { error: 'a text, a mapping or a list of them' })
  .transform((value): readonly AnswerCase[] => (isList(value) ? groupCases(value) : [value]));

/** The keys that an answer can have. */
export const ANSWER_KEYS = Object.keys(ENTRY_SHAPE);

/** The keys that are known at a place within `answers`. */
export const answerKeysAt = (path: readonly PropertyKey[]): readonly string[] =>
  path.includes('turns') ? Object.keys(TURN_SHAPE) : path.includes('visits') ? Object.keys(VISIT_SHAPE) : ANSWER_KEYS;

/** Why no file may be written there, or undefined; `name` is what to call it. */
export function explainInvalidPath(path: string, name = path): string | undefined {
  const segments = path.split(/[/\\]/);
  const outside = segments.includes('..') || segments[0] === '' || /^[A-Za-z]:/.test(path);
  if (path === '' || path.includes('\0') || ['', '.'].includes(segments.at(-1) ?? ''))
    return `\`${name}\` cannot be the name of a file`;
  return outside ? `\`${name}\` leaves the working directory: name a file inside it, without \`..\`` : undefined;
}

/** What ends so is the name of a folder. */
export const isFolderName = (name: string): boolean => name.endsWith('/');

/** Why this cannot be made: a file with its content, or a folder, which holds nothing yet. */
export function explainInvalidFile(name: string, content: string): string | undefined {
  if (!isFolderName(name)) return explainInvalidPath(name);
  const problem = content === '' ? undefined : `\`${name}\` is a folder and holds no text: name a file in it`;
  return explainInvalidPath(name.slice(0, -1), name) ?? problem;
}

export type IssueCollector = {
  addIssue(issue: { code: 'custom'; path?: string[]; message: string; params?: object }): void;
};

/** Whatever stands for a file must be in the working directory. */
export function checkFileNames(byName: object, issues: IssueCollector): void {
  for (const name of Object.keys(byName)) {
    const problem = explainInvalidPath(name);
    if (problem !== undefined)
      issues.addIssue({ code: 'custom', path: [name], message: problem, params: { key: true } });
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
  if (value.resets_in !== undefined && value.fail !== 'usage_limit')
    addKeyIssue('resets_in', '`resets_in` goes with `fail: usage_limit` only: remove it', issues);
}

function checkVisit(value: RawVisit, issues: IssueCollector): void {
  if (value.turns === undefined) checkTurn(value, issues);
  else checkExclusiveKey('turns', Object.keys(TURN_SHAPE), value, issues);
}

function checkEntry(value: RawEntry, issues: IssueCollector): void {
  if (value.visits === undefined) checkVisit(value, issues);
  else checkExclusiveKey('visits', Object.keys(VISIT_SHAPE), value, issues);
  if (value.visits !== undefined && value.when === undefined)
    addKeyIssue('visits', '`visits` goes with `when`: without it, write the answers as a list', issues);
}

/** What stands in a list does not stand beside it as well. */
export function checkExclusiveKey(
  listKey: string,
  otherKeys: readonly string[],
  value: object,
  issues: IssueCollector,
): void {
  for (const key of otherKeys.filter((name) => name in value)) {
    addKeyIssue(key, `\`${key}\` cannot stand beside \`${listKey}\`: move it into one of them`, issues);
  }
}

function addKeyIssue(key: string, message: string, issues: IssueCollector): void {
  issues.addIssue({ code: 'custom', path: [key], message, params: { key: true } });
}

const isList = (value: AnswerCase | readonly AnswerCase[]): value is readonly AnswerCase[] => Array.isArray(value);

/** Entries with `when` are cases of their own; the others are the visits of everybody else, in order. */
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
  exit: value.exit ?? 0,
  stderr: value.stderr ?? '',
  crash: value.crash ?? false,
});
