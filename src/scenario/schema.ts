import { z } from 'zod';
import { NUMBER_LIMIT } from '../core/option-types.ts';
import { OPTIONS, type Option } from '../core/options.ts';
import {
  amountSchema,
  answerKeysAt,
  checkExclusiveKey,
  countSchema,
  filesSchema,
  type IssueCollector,
  stateAnswersSchema,
  textSchema,
} from './answer-schema.ts';
import { EXPECT_SHAPE, expectKeysAt, expectSchema } from './expect-schema.ts';

/*
 * The schema of a whole scenario file. As in answer-schema.ts, an error message is a phrase that follows "must be".
 */

const boundedAmount = amountSchema.lt(NUMBER_LIMIT, { error: 'a number of at least 0' });
const boundedCount = countSchema.lt(NUMBER_LIMIT, { error: 'a whole number of at least 0' });

/** The options of a run that a scenario may set, as they are written in config.toml. */
const OPTIONS_SHAPE = Object.fromEntries(
  OPTIONS.filter(({ scenario }) => scenario !== undefined).map(({ key, type }) => [key, optionSchema(type).optional()]),
);

function optionSchema({ kind, choices, expected }: Option['type']) {
  if (kind === 'amount') return boundedAmount;
  if (kind === 'count') return boundedCount;
  return kind === 'boolean' ? z.boolean({ error: expected }) : z.enum(choices, { error: expected });
}

/** As `fingerprintScript` makes them. */
const fingerprintSchema = z
  .string({ error: 'twelve hexadecimal digits' })
  .regex(/^[0-9a-f]{12}$/, { error: 'twelve hexadecimal digits' });

const SHARED_SHAPE = {
  answers_from: textSchema.optional(),
  input: textSchema.optional(),
  vars: z.record(z.string(), textSchema, { error: 'a mapping of variables to values' }).optional(),
  options: z.strictObject(OPTIONS_SHAPE, { error: 'a mapping of options to values' }).optional(),
  files: filesSchema.optional(),
  files_from: textSchema.optional(),
  scripts: z.enum(['real', 'played'], { error: '`real` or `played`' }).optional(),
  recorded_scripts: z
    .record(z.string(), fingerprintSchema, { error: 'a mapping of scripts to fingerprints' })
    .optional(),
  answers: z.record(z.string(), stateAnswersSchema, { error: 'a mapping of states to answers' }).optional(),
};

const LISTED_SCENARIO_SHAPE = {
  name: textSchema,
  workflow: textSchema.optional(),
  ...SHARED_SHAPE,
  expect: expectSchema.optional(),
};

const listedScenarioSchema = z.strictObject(LISTED_SCENARIO_SHAPE, { error: 'a mapping with the key `name`' });

const FILE_SHAPE = {
  name: textSchema.optional(),
  workflow: textSchema.optional(),
  ...SHARED_SHAPE,
  expect: expectSchema.optional(),
  scenarios: z
    .array(listedScenarioSchema, { error: 'a list of scenarios' })
    .min(1, { error: 'a list of at least one' })
    .optional(),
};

/** The schema of a whole file. */
export const scenarioFileSchema = z
  .strictObject(FILE_SHAPE, { error: 'a mapping with keys such as `answers`' })
  .superRefine((value: object, issues: IssueCollector) => {
    if ('scenarios' in value) checkExclusiveKey('scenarios', ['name', 'expect'], value, issues);
  });

/** The content of a file. */
export type ScenarioFileContent = z.infer<typeof scenarioFileSchema>;

/** The content of one scenario, or what several share. */
export type ScenarioContent = Omit<ScenarioFileContent, 'scenarios'>;

/** Lists the keys that are allowed at a path of the file. */
export function scenarioKeysAt([first, second, ...rest]: readonly PropertyKey[]): readonly string[] {
  if (first === undefined) return Object.keys(FILE_SHAPE);
  if (first === 'scenarios')
    return typeof second === 'number' && rest.length > 0 ? scenarioKeysAt(rest) : Object.keys(LISTED_SCENARIO_SHAPE);
  if (first === 'expect') return second === undefined ? Object.keys(EXPECT_SHAPE) : expectKeysAt([second, ...rest]);
  return first === 'options'
    ? Object.keys(OPTIONS_SHAPE)
    : answerKeysAt([first, ...(second === undefined ? [] : [second]), ...rest]);
}
