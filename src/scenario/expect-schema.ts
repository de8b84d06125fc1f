import { z } from 'zod';
import { END_STATUSES } from '../core/run.ts';
import {
  addKeyIssue,
  amountSchema,
  checkFileNames,
  countSchema,
  exitCodeSchema,
  type IssueCollector,
  TEXT_OR_MAPPING,
  textSchema,
} from './answer-schema.ts';

/*
 * The schema of `expect`. As in answer-schema.ts, an error message is a phrase that follows "must be".
 */

const oneOrMoreTextsSchema = z
  .union([textSchema, z.array(textSchema, { error: 'a list of texts' }).min(1, { error: 'a list of at least one' })], {
    error: 'a text or a list of texts',
  })
  .transform((value) => [value].flat());

const TEXT_SHAPE = {
  equals: textSchema.optional(),
  contains: oneOrMoreTextsSchema.optional(),
  lacks: oneOrMoreTextsSchema.optional(),
  matches: oneOrMoreTextsSchema.optional(),
};

const FILE_SHAPE = { ...TEXT_SHAPE, absent: z.literal(true, { error: '`true`' }).optional() };

const textExpectationSchema = z.union([textSchema, z.strictObject(TEXT_SHAPE).superRefine(checkTextExpectation)], {
  error: TEXT_OR_MAPPING,
});
const fileExpectationSchema = z.union([textSchema, z.strictObject(FILE_SHAPE).superRefine(checkTextExpectation)], {
  error: TEXT_OR_MAPPING,
});
const textExpectationListSchema = z
  .array(textExpectationSchema, { error: 'a list of texts or mappings' })
  .min(1, { error: 'a list of at least one' });

const stateListSchema = z.array(textSchema, { error: 'a list of states' });
const perStateSchema = <T extends z.ZodType>(itemSchema: T, description: string) =>
  z.union([itemSchema, z.record(z.string(), itemSchema, { error: description })], { error: description });

/** The keys of `expect`. */
export const EXPECT_SHAPE = {
  path: z
    .union(
      [stateListSchema, z.record(z.string(), stateListSchema, { error: 'a mapping of agents to lists of states' })],
      {
        error: 'a list of states, or a mapping of agents to such lists',
      },
    )
    .optional(),
  result: textExpectationSchema.optional(),
  results: z.record(z.string(), textExpectationSchema, { error: 'a mapping of agents to results' }).optional(),
  prompts: z
    .record(
      z.string(),
      z.union([textExpectationSchema, textExpectationListSchema], { error: 'a text, a mapping or a list of them' }),
      {
        error: 'a mapping of states to prompts',
      },
    )
    .optional(),
  files: z
    .record(z.string(), fileExpectationSchema, { error: 'a mapping of files to what they hold' })
    .superRefine(checkFileNames)
    .optional(),
  cost: perStateSchema(amountSchema, 'a number of at least 0, or a mapping of states to such numbers').optional(),
  turns: perStateSchema(countSchema, 'a whole number of at least 0, or a mapping of states to such numbers').optional(),
  reminders: perStateSchema(
    countSchema,
    'a whole number of at least 0, or a mapping of states to such numbers',
  ).optional(),
  warnings: perStateSchema(
    countSchema,
    'a whole number of at least 0, or a mapping of states to such numbers',
  ).optional(),
  status: z.enum(END_STATUSES, { error: 'the status of a run' }).optional(),
  exit: exitCodeSchema.optional(),
};

/** The schema of `expect`. */
export const expectSchema = z.strictObject(EXPECT_SHAPE, { error: 'a mapping of what is expected' });

/** The content of `expect`. */
export type ExpectContent = z.infer<typeof expectSchema>;

/** Lists the keys that are allowed at a path within `expect`. */
export function expectKeysAt(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return Object.keys(EXPECT_SHAPE);
  return path[0] === 'files' ? Object.keys(FILE_SHAPE) : Object.keys(TEXT_SHAPE);
}

type RawTextExpectation = { readonly matches?: readonly string[] | undefined; readonly absent?: true | undefined };

function checkTextExpectation(value: RawTextExpectation, issues: IssueCollector): void {
  const keys = Object.keys(value);
  if (keys.length === 0)
    issues.addIssue({
      code: 'custom',
      message: `this expects nothing: give it one of ${Object.keys(TEXT_SHAPE).join(', ')}`,
    });
  if (value.absent && keys.length > 1) {
    addKeyIssue('absent', '`absent` cannot be combined with others: a missing file has no content', issues);
  }
  for (const pattern of value.matches ?? []) {
    const problem = explainInvalidPattern(pattern);
    if (problem !== null) issues.addIssue({ code: 'custom', path: ['matches'], message: problem });
  }
}

/** Explains why a pattern is not a regular expression; null if it is one. */
function explainInvalidPattern(pattern: string): string | null {
  try {
    new RegExp(pattern, 'm');
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : '';
    return `this is not a regular expression: ${reason}`;
  }
}
