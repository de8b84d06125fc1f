import { VARIABLE_NAMES } from '../core/variable-shape.ts';
import { WORDS } from './answer-schema.ts';
import { OF_PROMPTS, OF_SCRIPTS } from './states.ts';

/*
 * What zod cannot hand on to JSON Schema: what keys are for, and what is checked by code. The checks are said here once
 * more, as far as JSON Schema can say them; test/schemas.test.ts holds the two equal.
 */

/** A JSON Schema, or a part of one. */
export interface Node {
  readonly [keyword: string]: unknown;
}

/** One kind of mapping in a scenario file. */
export interface Kind {
  /** The keys by which it is told from others: it has the first and lacks the second. */
  readonly marks: readonly [has: string, lacks?: string];
  readonly purposes: Readonly<Record<string, string>>;
  /** What holds for the whole. */
  readonly rules?: Node;
  /** What holds for the values of some keys besides their shapes. */
  readonly values?: Readonly<Record<string, Node>>;
}

export const ref = (name: string): Node => ({ $ref: `#/definitions/${name}` });

const none = (pattern: string): Node => ({ not: { pattern } });
const oneOf = (keys: readonly string[]): readonly Node[] => keys.map((key) => ({ required: [key] }));

/** Where a text is wanted: YAML takes some for something else. */
export const TEXT_TYPES: readonly string[] = ['string', 'number', 'boolean'];

const SAFE = '[^/\\\\\\u0000]+';
const STATE_NAME: Node = { pattern: `^${SAFE}$` };
const SCRIPT_NAME: Node = { pattern: `^${SAFE}\\.(sh|ps1|bat)$` };
/** The name of a prompt, which may stand behind the agent that enters it. */
const PROMPT_NAME: Node = {
  pattern: `^(${SAFE}/)?${SAFE}$`,
  ...none('[^/]\\.(sh|ps1|bat)$'),
};
/** What `faultOfPath` lets pass: neither absolute nor through `..`, and not a folder. */
const OUTSIDE = '^[/\\\\]|^[A-Za-z]:|(^|[/\\\\])\\.\\.([/\\\\]|$)|\\u0000';
const FILE_NAME = none(`${OUTSIDE}|(^|[/\\\\])\\.?$`);
/** Likewise `faultOfFile`, to which what ends in `/` is a folder. */
const ENTRY_NAME = none(`${OUTSIDE}|^$|\\\\$|(^|[/\\\\])(\\.|\\.?/)$`);

const FILES: Node = {
  propertyNames: ENTRY_NAME,
  additionalProperties: { type: TEXT_TYPES },
  patternProperties: { '/$': { enum: ['', null] } },
};
const EXPECTED_FILES: Node = { propertyNames: FILE_NAME };
const BY_STATE: Node = { propertyNames: STATE_NAME };
const WAY: Node = { type: 'array', items: { type: TEXT_TYPES, ...STATE_NAME } };
const PATTERN: Node = { type: TEXT_TYPES, format: 'regex' };

/** Where the name of a state tells what it is, so does its answer. */
const ANSWERS: Node = {
  ...BY_STATE,
  patternProperties: {
    '.\\.md$': { allOf: [ref('state'), ref('prompt')] },
    '.\\.(sh|ps1|bat)$': { allOf: [ref('state'), ref('script')] },
  },
};

const ONLY_WITH_LIMIT: Node = { required: ['fail'], properties: { fail: { const: 'usage_limit' } } };
const LISTED_TURNS = (...beside: readonly string[]): Node => ({ propertyNames: { enum: ['turns', ...beside] } });
const LISTED_VISITS: Node = { required: ['when'], propertyNames: { enum: ['visits', 'when'] } };

const TURN = {
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

const VISIT = { ...TURN, turns: 'The turns of one visit, in order; the last is repeated.' };

const ENTRY = {
  ...VISIT,
  when: 'For whom this is meant: the values that an agent’s variables must have.',
  visits: 'With `when`: one answer for each visit.',
};

const SHARED = {
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

const SCENARIO = {
  name: 'What the scenario is called.',
  workflow: 'The workflow that it is for, if it is not the folder that the file lies in.',
  ...SHARED,
  expect: 'What should come of it.',
};

const TEXT = {
  equals: 'The whole text.',
  contains: 'What must be in it.',
  lacks: 'What must not be in it.',
  matches: 'Regular expressions that must match.',
};

const BLOCK_VALUES = {
  vars: { propertyNames: VARIABLE_NAMES },
  files: FILES,
  recorded_scripts: { propertyNames: SCRIPT_NAME },
  answers: ANSWERS,
};
const TEXT_VALUES = { matches: { ...PATTERN, items: PATTERN } };

/** Every kind by its name. */
export const KINDS: Readonly<Record<string, Kind>> = {
  file: {
    marks: ['scenarios'],
    purposes: { ...SCENARIO, scenarios: 'Several scenarios; what stands beside them they have in common.' },
    rules: { dependencies: { scenarios: { properties: { name: false, expect: false } } } },
    values: BLOCK_VALUES,
  },
  scenario: { marks: ['answers'], purposes: SCENARIO, values: BLOCK_VALUES },
  entry: {
    marks: ['visits'],
    purposes: ENTRY,
    rules: {
      anyOf: oneOf([...WORDS, 'turns', 'visits']),
      dependencies: { resets_in: ONLY_WITH_LIMIT, turns: LISTED_TURNS('when'), visits: LISTED_VISITS },
    },
    values: { write: FILES },
  },
  visit: {
    marks: ['turns', 'path'],
    purposes: VISIT,
    rules: {
      anyOf: oneOf([...WORDS, 'turns']),
      dependencies: { resets_in: ONLY_WITH_LIMIT, turns: LISTED_TURNS() },
    },
    values: { write: FILES },
  },
  turn: {
    marks: ['text'],
    purposes: TURN,
    rules: { anyOf: oneOf(WORDS), dependencies: { resets_in: ONLY_WITH_LIMIT } },
    values: { write: FILES },
  },
  expect: {
    marks: ['path'],
    purposes: {
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
      path: { ...WAY, additionalProperties: WAY },
      prompts: { propertyNames: PROMPT_NAME },
      files: EXPECTED_FILES,
      cost: BY_STATE,
      turns: BY_STATE,
      reminders: BY_STATE,
      warnings: BY_STATE,
    },
  },
  fileText: {
    marks: ['absent'],
    purposes: { ...TEXT, absent: 'There must be no such file.' },
    rules: { minProperties: 1, dependencies: { absent: { maxProperties: 1 } } },
    values: TEXT_VALUES,
  },
  text: { marks: ['equals'], purposes: TEXT, rules: { minProperties: 1 }, values: TEXT_VALUES },
  options: { marks: ['max_iterations'], purposes: {} },
};

/** Answers for states of one kind: some keys mean nothing there, also in the lists within them. */
export const NARROWED: Readonly<Record<string, Node>> = {
  prompt: without(OF_SCRIPTS, 'prompt'),
  script: without(OF_PROMPTS, 'script'),
};

function without(keys: readonly string[], name: string): Node {
  const list = { type: 'array', items: ref(name) };
  const refused = Object.fromEntries(keys.map((key) => [key, false]));
  return { ...list, type: [...TEXT_TYPES, 'object', 'array'], properties: { ...refused, turns: list, visits: list } };
}
