import { z } from 'zod';
import { END_STATUSES } from '../core/run/run.ts';
import {
  addKeyIssue,
  amountSchema,
  checkFileNames,
  countSchema,
  exitCodeSchema,
  type IssueCollector,
  textOr,
  textSchema,
} from './answer-schema.ts';
import { BY_FILE, BY_PROMPT, BY_STATE, STATE_LIST, TEXT_TYPES } from './schema-keywords.ts';

/*
 * The schema of `expect`. As in answer-schema.ts, an error message is a phrase that follows "must be".
 */

const oneOrMoreTextsSchema = z
  .union([textSchema, z.array(textSchema, { error: 'a list of texts' }).min(1, { error: 'a list of at least one' })], {
    error: 'a text or a list of texts',
  })
  .transform((value) => [value].flat());

const PATTERN = { type: TEXT_TYPES, format: 'regex' };

const TEXT_SHAPE = {
  equals: textSchema.optional().describe('The whole text.'),
  contains: oneOrMoreTextsSchema.optional().describe('Texts that must be in it.'),
  lacks: oneOrMoreTextsSchema.optional().describe('Texts that must not be in it.'),
  matches: oneOrMoreTextsSchema
    .optional()
    .meta({ description: 'Regular expressions that must match.', format: 'regex', items: PATTERN }),
};

const FILE_SHAPE = {
  ...TEXT_SHAPE,
  absent: z.literal(true, { error: '`true`' }).optional().describe('There must be no such file.'),
};

const textMappingSchema = z.strictObject(TEXT_SHAPE).superRefine(checkTextExpectation).meta({ minProperties: 1 });
const textExpectationSchema = textOr(textMappingSchema, 'text');

const fileMappingSchema = z
  .strictObject(FILE_SHAPE)
  .superRefine(checkTextExpectation)
  .meta({ minProperties: 1, dependencies: { absent: { maxProperties: 1 } } });
const fileExpectationSchema = textOr(fileMappingSchema, 'fileText');

const textExpectationListSchema = z
  .array(textExpectationSchema, { error: 'a list of texts or mappings' })
  .min(1, { error: 'a list of at least one' });

const stateListSchema = z.array(textSchema, { error: 'a list of states' }).meta(STATE_LIST);
const perStateSchema = <T extends z.ZodType>(itemSchema: T, expected: string) =>
  z
    .union([itemSchema, z.record(z.string(), itemSchema, { error: expected }).meta(BY_STATE)], { error: expected })
    .optional();
const countsSchema = perStateSchema(
  countSchema,
  'a whole number of at least 0, or a mapping of states to such numbers',
);

const printsSchema = z.array(textSchema, { error: 'a list of texts' });

/** The keys of `expect`. */
export const EXPECT_SHAPE = {
  path: z
    .union(
      [stateListSchema, z.record(z.string(), stateListSchema, { error: 'a mapping of agents to lists of states' })],
      { error: 'a list of states, or a mapping of agents to such lists' },
    )
    .optional()
    .describe('The states that the first agent enters, in order; or by agent.'),
  result: textExpectationSchema.optional().describe('The result of the first agent.'),
  results: z
    .record(z.string(), textExpectationSchema, { error: 'a mapping of agents to results' })
    .optional()
    .describe('The results, by agent.'),
  prints: z
    .union([printsSchema, z.record(z.string(), printsSchema, { error: 'a mapping of agents to lists of texts' })], {
      error: 'a list of texts, or a mapping of agents to such lists',
    })
    .optional()
    .describe('The texts that the first agent shows with <print>, in order; or by agent.'),
  prompts: z
    .record(
      z.string(),
      z.union([textExpectationSchema, textExpectationListSchema], { error: 'a text, a mapping or a list of them' }),
      { error: 'a mapping of states to prompts' },
    )
    .meta(BY_PROMPT)
    .optional()
    .describe('The prompt that is sent, by state or AGENT/STATE: for every visit, or a list with one for each.'),
  files: z
    .record(z.string(), fileExpectationSchema, { error: 'a mapping of files to what they hold' })
    .superRefine(checkFileNames)
    .meta(BY_FILE)
    .optional()
    .describe('The contents of files at the end.'),
  cost: perStateSchema(amountSchema, 'a number of at least 0, or a mapping of states to such numbers').describe(
    'The cost in dollars, in total or by state.',
  ),
  turns: countsSchema.describe('The number of turns, in total or by state.'),
  reminders: countsSchema.describe('The number of reminders, in total or by state.'),
  warnings: countsSchema.describe('The number of warnings, in total or by state.'),
  status: z
    .enum(END_STATUSES, { error: 'the status of a run' })
    .optional()
    .describe('The status of the run at the end.'),
  exit: exitCodeSchema.optional().describe('The exit code of Raymond.'),
};

/** The schema of `expect`. */
export const expectSchema = z
  .strictObject(EXPECT_SHAPE, { error: 'a mapping of what is expected' })
  .meta({ id: 'expect' });

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
