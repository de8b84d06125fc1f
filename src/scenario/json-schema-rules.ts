import { VARIABLE_NAME_SCHEMA } from '../core/variables.ts';
import { ANSWER_CONTENT_KEYS } from './answer-schema.ts';
import { PROMPT_ONLY_KEYS, SCRIPT_ONLY_KEYS } from './state-names.ts';

/*
 * What zod cannot hand on to JSON Schema: what keys are for, and what is checked by code. The checks are said here once
 * more, as far as JSON Schema can say them; test/schemas.test.ts holds the two equal.
 */

/** A JSON Schema, or a part of one. */
export interface JsonSchemaNode {
  readonly [keyword: string]: unknown;
}

/** One kind of mapping in a scenario file. */
export interface MappingKind {
  /** The keys by which it is told from others: it has the first and lacks the second. */
  readonly distinguishingKeys: readonly [has: string, lacks?: string];
  readonly descriptions: Readonly<Record<string, string>>;
  /** What holds for the whole. */
  readonly rules?: JsonSchemaNode;
  /** What holds for the values of some keys besides their shapes. */
  readonly values?: Readonly<Record<string, JsonSchemaNode>>;
}

export const schemaRef = (name: string): JsonSchemaNode => ({ $ref: `#/definitions/${name}` });

const notMatching = (pattern: string): JsonSchemaNode => ({ not: { pattern } });
const requireAnyOf = (keys: readonly string[]): readonly JsonSchemaNode[] => keys.map((key) => ({ required: [key] }));

/** Where a text is wanted: YAML takes some for something else. */
export const TEXT_TYPES: readonly string[] = ['string', 'number', 'boolean'];

const NAME_PATTERN = '[^/\\\\\\u0000]+';
const STATE_NAME: JsonSchemaNode = { pattern: `^${NAME_PATTERN}$` };
const SCRIPT_NAME: JsonSchemaNode = { pattern: `^${NAME_PATTERN}\\.(sh|ps1|bat)$` };
/** The name of a prompt, which may stand behind the agent that enters it. */
const PROMPT_NAME: JsonSchemaNode = {
  pattern: `^(${NAME_PATTERN}/)?${NAME_PATTERN}$`,
  ...notMatching('[^/]\\.(sh|ps1|bat)$'),
};
/** What `faultOfPath` lets pass: neither absolute nor through `..`, and not a folder. */
const OUTSIDE_PATTERN = '^[/\\\\]|^[A-Za-z]:|(^|[/\\\\])\\.\\.([/\\\\]|$)|\\u0000';
const FILE_NAME = notMatching(`${OUTSIDE_PATTERN}|(^|[/\\\\])\\.?$`);
/** Likewise `faultOfFile`, to which what ends in `/` is a folder. */
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

/** Where the name of a state tells what it is, so does its answer. */
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
  text: 'What is said last; its tag is followed.',
  write: 'Files to write into the working directory, with their contents; what ends in `/` is an empty folder.',
  uses: 'Tools to be seen in use, such as `Bash npm test`; they do nothing.',
  deny: 'Tools that were not permitted, such as `Bash npm install`.',
  cost: 'What the turn costs, in dollars.',
  seconds: 'How long it takes.',
  fail: 'The way in which the turn fails.',
  resets_in: 'With `fail: usage_limit`: the seconds until the limit ends; 60 if it is left out.',
  exit: 'The exit code of a script.',
  stderr: 'What a script prints there.',
  crash: 'Whether Raymond is killed during this turn.',
};

const VISIT_DESCRIPTIONS = { ...TURN_DESCRIPTIONS, turns: 'The turns of one visit, in order; the last is repeated.' };

const ENTRY_DESCRIPTIONS = {
  ...VISIT_DESCRIPTIONS,
  when: 'For whom this is meant: the values that an agent’s variables must have.',
  visits: 'With `when`: one answer for each visit.',
};

const SHARED_DESCRIPTIONS = {
  answers_from: 'Another file, whose answers count where this one has none.',
  input: 'The value of {{result}} in the first state.',
  vars: 'Variables for every prompt and script.',
  options: 'Options of the run, as in config.toml.',
  files: 'Files that are there at first, with their contents; what ends in `/` is an empty folder.',
  files_from: 'A folder whose files are there at first, as copies, where `files` has none of their names.',
  scripts: 'Whether scripts that have no answer are run (`real`), or must have one (`played`).',
  recorded_scripts:
    'Fingerprints of the scripts at the time of a recording: whoever changes one is told that the old one was played.',
  answers: 'What is answered in each state.',
};

const SCENARIO_DESCRIPTIONS = {
  name: 'What the scenario is called.',
  workflow: 'The workflow that it is for, if it is not the folder that the file lies in.',
  ...SHARED_DESCRIPTIONS,
  expect: 'What should come of it.',
};

const TEXT_DESCRIPTIONS = {
  equals: 'The whole text.',
  contains: 'What must be in it.',
  lacks: 'What must not be in it.',
  matches: 'Regular expressions that must match.',
};

const BLOCK_VALUES = {
  vars: { propertyNames: VARIABLE_NAME_SCHEMA },
  files: FILES,
  recorded_scripts: { propertyNames: SCRIPT_NAME },
  answers: ANSWERS,
};
const TEXT_VALUES = { matches: { ...PATTERN, items: PATTERN } };

/** Every kind by its name. */
export const MAPPING_KINDS: Readonly<Record<string, MappingKind>> = {
  file: {
    distinguishingKeys: ['scenarios'],
    descriptions: {
      ...SCENARIO_DESCRIPTIONS,
      scenarios: 'Several scenarios; what stands beside them they have in common.',
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
      path: 'The states that the first agent comes to, in order; or by agent.',
      result: 'What the first agent ends with.',
      results: 'What each agent ends with.',
      prompts: 'What each state is sent, or AGENT/STATE: on every visit, or a list with one for each.',
      files: 'What each file holds at the end.',
      cost: 'Dollars, of all states or by state.',
      turns: 'How many turns there are, in all states or by state.',
      reminders: 'How many reminders there are, in all states or by state.',
      warnings: 'How many warnings there are, in all states or by state.',
      status: 'How the run ends.',
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

/** Answers for states of one kind: some keys mean nothing there, also in the lists within them. */
export const ANSWERS_BY_STATE_KIND: Readonly<Record<string, JsonSchemaNode>> = {
  prompt: forbidKeys(SCRIPT_ONLY_KEYS, 'prompt'),
  script: forbidKeys(PROMPT_ONLY_KEYS, 'script'),
};

function forbidKeys(keys: readonly string[], name: string): JsonSchemaNode {
  const list = { type: 'array', items: schemaRef(name) };
  const forbidden = Object.fromEntries(keys.map((key) => [key, false]));
  return { ...list, type: [...TEXT_TYPES, 'object', 'array'], properties: { ...forbidden, turns: list, visits: list } };
}
