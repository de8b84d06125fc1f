import { VARIABLE_NAME_SCHEMA } from '../core/variables.ts';
import { ANSWER_CONTENT_KEYS } from './answer-schema.ts';
import { PROMPT_ONLY_KEYS, SCRIPT_ONLY_KEYS } from './state-names.ts';

/*
 * The parts of the JSON Schema that zod cannot derive: descriptions of keys, and checks that are made by code. The checks
 * are repeated here as far as JSON Schema can express them; test/schemas.test.ts compares the two.
 */

/** A JSON Schema, or a part of one. */
export interface JsonSchemaNode {
  readonly [keyword: string]: unknown;
}

/** Additions to the schema of one kind of mapping in a scenario file. */
export interface MappingKind {
  /** The keys that tell it from other kinds: it has the first and lacks the second. */
  readonly distinguishingKeys: readonly [has: string, lacks?: string];
  readonly descriptions: Readonly<Record<string, string>>;
  /** Keywords for the whole mapping. */
  readonly rules?: JsonSchemaNode;
  /** Keywords for the values of some keys, besides their shapes. */
  readonly values?: Readonly<Record<string, JsonSchemaNode>>;
}

/** Refers to a definition of the schema. */
export const schemaRef = (name: string): JsonSchemaNode => ({ $ref: `#/definitions/${name}` });

const notMatching = (pattern: string): JsonSchemaNode => ({ not: { pattern } });
const requireAnyOf = (keys: readonly string[]): readonly JsonSchemaNode[] => keys.map((key) => ({ required: [key] }));

/** The types that are read as a text. */
export const TEXT_TYPES: readonly string[] = ['string', 'number', 'boolean'];

const NAME_PATTERN = '[^/\\\\\\u0000]+';
const STATE_NAME: JsonSchemaNode = { pattern: `^${NAME_PATTERN}$` };
const SCRIPT_NAME: JsonSchemaNode = { pattern: `^${NAME_PATTERN}\\.(sh|ps1|bat)$` };
/** The name of a prompt, or AGENT/PROMPT. */
const PROMPT_NAME: JsonSchemaNode = {
  pattern: `^(${NAME_PATTERN}/)?${NAME_PATTERN}$`,
  ...notMatching('[^/]\\.(sh|ps1|bat)$'),
};
/** The names that `explainInvalidPath` allows: neither absolute nor through `..`, and not a folder. */
const OUTSIDE_PATTERN = '^[/\\\\]|^[A-Za-z]:|(^|[/\\\\])\\.\\.([/\\\\]|$)|\\u0000';
const FILE_NAME = notMatching(`${OUTSIDE_PATTERN}|(^|[/\\\\])\\.?$`);
/** The names that `explainInvalidFile` allows, where a name that ends in `/` is a folder. */
const FILE_OR_FOLDER_NAME = notMatching(`${OUTSIDE_PATTERN}|^$|\\\\$|(^|[/\\\\])(\\.|\\.?/)$`);

const FILES: JsonSchemaNode = {
  propertyNames: FILE_OR_FOLDER_NAME,
  additionalProperties: { type: TEXT_TYPES },
  patternProperties: { '/$': { enum: ['', null] } },
};
const EXPECTED_FILES: JsonSchemaNode = { propertyNames: FILE_NAME };
const BY_STATE: JsonSchemaNode = { propertyNames: STATE_NAME };
const STATE_PATH: JsonSchemaNode = { type: 'array', items: { type: TEXT_TYPES, ...STATE_NAME } };
const PATTERN: JsonSchemaNode = { type: TEXT_TYPES, format: 'regex' };

/** Answers by state: an extension in the name decides between answers of prompts and of scripts. */
const ANSWERS: JsonSchemaNode = {
  ...BY_STATE,
  patternProperties: {
    '.\\.md$': { allOf: [schemaRef('state'), schemaRef('prompt')] },
    '.\\.(sh|ps1|bat)$': { allOf: [schemaRef('state'), schemaRef('script')] },
  },
};

const ONLY_WITH_USAGE_LIMIT: JsonSchemaNode = { required: ['fail'], properties: { fail: { const: 'usage_limit' } } };
const LISTED_TURNS = (...otherKeys: readonly string[]): JsonSchemaNode => ({
  propertyNames: { enum: ['turns', ...otherKeys] },
});
const LISTED_VISITS: JsonSchemaNode = { required: ['when'], propertyNames: { enum: ['visits', 'when'] } };

const TURN_DESCRIPTIONS = {
  text: 'The final answer; its tag is followed.',
  write:
    'Files to write into the working directory, with their contents; a name that ends in `/` makes an empty folder.',
  uses: 'Tools that are shown as used, such as `Bash npm test`; they are not run.',
  deny: 'Tools that were not permitted, such as `Bash npm install`.',
  cost: 'The cost of the turn in dollars.',
  seconds: 'How many seconds it takes.',
  fail: 'The way in which the turn fails.',
  resets_in: 'With `fail: usage_limit`: the seconds until the limit ends. The default is 60.',
  exit: 'The exit code of a script.',
  stderr: 'What a script prints to stderr.',
  crash: 'Whether Raymond is killed during this turn.',
};

const VISIT_DESCRIPTIONS = { ...TURN_DESCRIPTIONS, turns: 'The turns of one visit, in order; the last is repeated.' };

const ENTRY_DESCRIPTIONS = {
  ...VISIT_DESCRIPTIONS,
  when: 'The values that an agent’s variables must have for this answer to be used.',
  visits: 'With `when`: one answer for each visit.',
};

const SHARED_DESCRIPTIONS = {
  answers_from: 'Another file, whose answers are used where this one has none.',
  input: 'The value of {{result}} in the first state.',
  vars: 'Variables for every prompt and script.',
  options: 'Options of the run, as in config.toml.',
  files: 'Files that exist at the start, with their contents; a name that ends in `/` makes an empty folder.',
  files_from: 'A folder whose files are copied at the start, except those that `files` names.',
  scripts: 'Whether scripts without an answer are run (`real`) or are an error (`played`).',
  recorded_scripts:
    'Fingerprints of the scripts at the time of the recording, so that a later change of a script is noticed.',
  answers: 'The answers, by state.',
};

const SCENARIO_DESCRIPTIONS = {
  name: 'The name of the scenario.',
  workflow: 'The workflow that it tests, if that is not the folder of the file.',
  ...SHARED_DESCRIPTIONS,
  expect: 'The expected outcome.',
};

const TEXT_DESCRIPTIONS = {
  equals: 'The whole text.',
  contains: 'Texts that must be in it.',
  lacks: 'Texts that must not be in it.',
  matches: 'Regular expressions that must match.',
};

const BLOCK_VALUES = {
  vars: { propertyNames: VARIABLE_NAME_SCHEMA },
  files: FILES,
  recorded_scripts: { propertyNames: SCRIPT_NAME },
  answers: ANSWERS,
};
const TEXT_VALUES = { matches: { ...PATTERN, items: PATTERN } };

/** Every kind of mapping, by its name in the schema. */
export const MAPPING_KINDS: Readonly<Record<string, MappingKind>> = {
  file: {
    distinguishingKeys: ['scenarios'],
    descriptions: {
      ...SCENARIO_DESCRIPTIONS,
      scenarios: 'Several scenarios; they share the other keys of the file.',
    },
    rules: { dependencies: { scenarios: { properties: { name: false, expect: false } } } },
    values: BLOCK_VALUES,
  },
  scenario: { distinguishingKeys: ['answers'], descriptions: SCENARIO_DESCRIPTIONS, values: BLOCK_VALUES },
  entry: {
    distinguishingKeys: ['visits'],
    descriptions: ENTRY_DESCRIPTIONS,
    rules: {
      anyOf: requireAnyOf([...ANSWER_CONTENT_KEYS, 'turns', 'visits']),
      dependencies: { resets_in: ONLY_WITH_USAGE_LIMIT, turns: LISTED_TURNS('when'), visits: LISTED_VISITS },
    },
    values: { write: FILES },
  },
  visit: {
    distinguishingKeys: ['turns', 'path'],
    descriptions: VISIT_DESCRIPTIONS,
    rules: {
      anyOf: requireAnyOf([...ANSWER_CONTENT_KEYS, 'turns']),
      dependencies: { resets_in: ONLY_WITH_USAGE_LIMIT, turns: LISTED_TURNS() },
    },
    values: { write: FILES },
  },
  turn: {
    distinguishingKeys: ['text'],
    descriptions: TURN_DESCRIPTIONS,
    rules: { anyOf: requireAnyOf(ANSWER_CONTENT_KEYS), dependencies: { resets_in: ONLY_WITH_USAGE_LIMIT } },
    values: { write: FILES },
  },
  expect: {
    distinguishingKeys: ['path'],
    descriptions: {
      path: 'The states that the first agent enters, in order; or by agent.',
      result: 'The result of the first agent.',
      results: 'The results, by agent.',
      prompts: 'The prompt that is sent, by state or AGENT/STATE: for every visit, or a list with one for each.',
      files: 'The contents of files at the end.',
      cost: 'The cost in dollars, in total or by state.',
      turns: 'The number of turns, in total or by state.',
      reminders: 'The number of reminders, in total or by state.',
      warnings: 'The number of warnings, in total or by state.',
      status: 'The status of the run at the end.',
      exit: 'The exit code of Raymond.',
    },
    values: {
      path: { ...STATE_PATH, additionalProperties: STATE_PATH },
      prompts: { propertyNames: PROMPT_NAME },
      files: EXPECTED_FILES,
      cost: BY_STATE,
      turns: BY_STATE,
      reminders: BY_STATE,
      warnings: BY_STATE,
    },
  },
  fileText: {
    distinguishingKeys: ['absent'],
    descriptions: { ...TEXT_DESCRIPTIONS, absent: 'There must be no such file.' },
    rules: { minProperties: 1, dependencies: { absent: { maxProperties: 1 } } },
    values: TEXT_VALUES,
  },
  text: {
    distinguishingKeys: ['equals'],
    descriptions: TEXT_DESCRIPTIONS,
    rules: { minProperties: 1 },
    values: TEXT_VALUES,
  },
  options: { distinguishingKeys: ['max_iterations'], descriptions: {} },
};

/** Answers for states of one kind: some keys are not allowed there, nor in the lists within them. */
export const ANSWERS_BY_STATE_KIND: Readonly<Record<string, JsonSchemaNode>> = {
  prompt: forbidKeys(SCRIPT_ONLY_KEYS, 'prompt'),
  script: forbidKeys(PROMPT_ONLY_KEYS, 'script'),
};

function forbidKeys(keys: readonly string[], name: string): JsonSchemaNode {
  const list = { type: 'array', items: schemaRef(name) };
  const forbidden = Object.fromEntries(keys.map((key) => [key, false]));
  return { ...list, type: [...TEXT_TYPES, 'object', 'array'], properties: { ...forbidden, turns: list, visits: list } };
}
