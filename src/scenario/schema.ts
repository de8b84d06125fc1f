import { z } from 'zod';
import { PERCENT_PATTERN } from '../core/options/option-rows.ts';
import { NUMBER_LIMIT } from '../core/options/option-types.ts';
import { OPTIONS, type Option } from '../core/options/options.ts';
import { DURATION_PATTERN } from '../language/text/duration.ts';
import { VARIABLE_NAME_SCHEMA } from '../language/variable-names.ts';
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
import { asksSchema, PERSON_KEYS } from './asks.ts';
import { EXPECT_SHAPE, expectKeysAt, expectSchema } from './expect-schema.ts';
import { ANSWERS, BY_SCRIPT } from './schema-keywords.ts';

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
  if (kind === 'duration')
    return z.union([boundedAmount, z.string().regex(new RegExp(DURATION_PATTERN))], { error: expected });
  if (kind === 'percent')
    return z.union([countSchema.lt(100), z.string().regex(new RegExp(PERCENT_PATTERN))], { error: expected });
  if (kind === 'count') return boundedCount;
  return kind === 'boolean' ? z.boolean({ error: expected }) : z.enum(choices, { error: expected });
}

/** As `fingerprintScript` makes them. */
const fingerprintSchema = z
  .string({ error: 'twelve hexadecimal digits' })
  .regex(/^[0-9a-f]{12}$/, { error: 'twelve hexadecimal digits' });

const SCENARIO_SHAPE = {
  name: textSchema.optional().describe('The name of the scenario.'),
  workflow: textSchema.optional().describe('The workflow that it tests, if that is not the folder of the file.'),
  answers_from: textSchema.optional().describe('Another file, whose answers are used where this one has none.'),
  input: textSchema.optional().describe('The value of {{result}} in the first state.'),
  vars: z
    .record(z.string(), textSchema, { error: 'a mapping of variables to values' })
    .meta({ propertyNames: VARIABLE_NAME_SCHEMA })
    .optional()
    .describe('Variables for every prompt and script.'),
  options: z
    .strictObject(OPTIONS_SHAPE, { error: 'a mapping of options to values' })
    .meta({ id: 'options' })
    .optional()
    .describe('Options of the run, as in config.toml.'),
  files: filesSchema
    .optional()
    .describe('Files that exist at the start, with their contents; a name that ends in `/` makes an empty folder.'),
  files_from: textSchema
    .optional()
    .describe('A folder whose files are copied at the start, except those that `files` names.'),
  bin: filesSchema
    .optional()
    .describe('Programs that scripts find first on their PATH, by name; without a `#!` line they are run by sh.'),
  scripts: z
    .enum(['real', 'played'], { error: '`real` or `played`' })
    .optional()
    .describe('Whether scripts without an answer are run (`real`) or are an error (`played`).'),
  recorded_scripts: z
    .record(z.string(), fingerprintSchema, { error: 'a mapping of scripts to fingerprints' })
    .meta(BY_SCRIPT)
    .optional()
    .describe(
      'Fingerprints of the scripts at the time of the recording, so that a later change of a script is noticed.',
    ),
  answers: z
    .record(z.string(), stateAnswersSchema, { error: 'a mapping of states to answers' })
    .meta(ANSWERS)
    .optional()
    .describe('The answers, by state.'),
  asks: asksSchema.optional().describe('What people answer to questions, by the state that asks.'),
  expect: expectSchema.optional().describe('The expected outcome.'),
};

const LISTED_SCENARIO_SHAPE = { ...SCENARIO_SHAPE, name: textSchema.describe('The name of the scenario.') };

const listedScenarioSchema = z
  .strictObject(LISTED_SCENARIO_SHAPE, { error: 'a mapping with the key `name`' })
  .meta({ id: 'scenario' });

const FILE_SHAPE = {
  ...SCENARIO_SHAPE,
  scenarios: z
    .array(listedScenarioSchema, { error: 'a list of scenarios' })
    .min(1, { error: 'a list of at least one' })
    .optional()
    .describe('Several scenarios; they share the other keys of the file.'),
};

/** The schema of a whole file. */
export const scenarioFileSchema = z
  .strictObject(FILE_SHAPE, { error: 'a mapping with keys such as `answers`' })
  .superRefine((value: object, issues: IssueCollector) => {
    if ('scenarios' in value) checkExclusiveKey('scenarios', ['name', 'expect'], value, issues);
  })
  .meta({ dependencies: { scenarios: { properties: { name: false, expect: false } } } });

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
  if (first === 'asks') return PERSON_KEYS;
  return first === 'options'
    ? Object.keys(OPTIONS_SHAPE)
    : answerKeysAt([first, ...(second === undefined ? [] : [second]), ...rest]);
}
