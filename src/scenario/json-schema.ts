import { z } from 'zod';
import { SCENARIO, WORDS } from './schema.ts';
import { OF_PROMPTS, OF_SCRIPTS } from './states.ts';

/*
 * The shapes come from SCENARIO. What is checked beyond them, there and in states.ts, is said here once more as far as
 * JSON Schema can say it; a test holds the two equal.
 */

/** What each key of an answer is for, as an editor shows it. */
export const PURPOSES: Readonly<Record<string, string>> = {
  text: 'What is said last; its tag is followed.',
  write: 'Files to write into the working directory, with their contents.',
  uses: 'Tools to be seen in use, such as `Bash npm test`; they do nothing.',
  deny: 'Tools that were not permitted, such as `Bash npm install`.',
  cost: 'What the turn costs, in dollars.',
  seconds: 'How long it takes.',
  fail: 'The way in which the turn fails.',
  resets_in: 'With `fail: usage_limit`: the seconds until the limit ends; 60 if it is left out.',
  exit: 'The exit code of a script.',
  stderr: 'What a script prints there.',
  turns: 'The turns of one visit, in order; the last is repeated.',
  when: 'For whom this is meant: the values that an agent’s variables must have.',
  visits: 'With `when`: one answer for each visit.',
};

interface Node {
  readonly [keyword: string]: unknown;
}

/** A file of canned answers as JSON Schema, for editors: what is taken if the workflow has these states. */
export function scenarioSchema(): object {
  const definitions: Record<string, Node> = {};
  const whole = define(z.toJSONSchema(SCENARIO, { io: 'input', target: 'draft-7' }), definitions) as Node;
  const { answers, ...others } = whole.properties as Readonly<Record<string, Node>>;
  return {
    ...whole,
    title: 'Raymond: a file of canned answers',
    properties: { answers: { description: 'What is answered in each state.', ...statesOf(answers) }, ...others },
    definitions: {
      ...definitions,
      state: answers?.additionalProperties,
      prompt: without(OF_SCRIPTS, 'prompt'),
      script: without(OF_PROMPTS, 'script'),
    },
  };
}

const ref = (name: string): Node => ({ $ref: `#/definitions/${name}` });

/** What holds for the names of states, and for answers where the name tells the kind of its state. */
const statesOf = (answers: Node | undefined): Node => ({
  ...answers,
  propertyNames: { not: { pattern: '^$|[/\\\\\\u0000]' } },
  patternProperties: {
    '.\\.md$': { allOf: [ref('state'), ref('prompt')] },
    '.\\.(sh|ps1|bat)$': { allOf: [ref('state'), ref('script')] },
  },
  additionalProperties: ref('state'),
});

/** Answers that lack some keys, also in the lists within them. */
function without(keys: readonly string[], name: string): Node {
  const items = ref(name);
  const refused = Object.fromEntries(keys.map((key) => [key, false]));
  return { properties: { ...refused, turns: { items }, visits: { items } }, items };
}

/** The schema with every kind of answer taken out of it and defined once. */
function define(node: unknown, definitions: Record<string, Node>): unknown {
  if (Array.isArray(node)) return node.map((each) => define(each, definitions));
  if (typeof node !== 'object' || node === null) return node;
  const inner: Node = Object.fromEntries(Object.entries(node).map(([key, each]) => [key, define(each, definitions)]));
  const properties = (inner.properties ?? {}) as Readonly<Record<string, Node>>;
  if (!('text' in properties)) return inner;
  const kind = 'visits' in properties ? 'entry' : 'turns' in properties ? 'visit' : 'turn';
  definitions[kind] = { ...inner, properties: explained(properties), ...rulesFor(Object.keys(properties)) };
  return ref(kind);
}

function explained(properties: Readonly<Record<string, Node>>): Node {
  const explain = ([key, shape]: [string, Node]): [string, Node] => {
    return [key, { description: PURPOSES[key], ...shape, ...(key === 'write' && { propertyNames: FILE_NAMES }) }];
  };
  return Object.fromEntries(Object.entries(properties).map(explain));
}

/** What `faultOfPath` lets pass: neither absolute nor through `..`, and not a folder. */
const FILE_NAMES = { not: { pattern: '^[/\\\\]|^[A-Za-z]:|(^|[/\\\\])(\\.\\.([/\\\\]|$)|\\.?$)|\\u0000' } };

/** An answer says something, what lists answers stands alone, and some keys need another. */
function rulesFor(keys: readonly string[]): Node {
  const known = (...names: readonly string[]): readonly string[] => names.filter((name) => keys.includes(name));
  const needs: Record<string, Node> = {
    resets_in: { required: ['fail'], properties: { fail: { const: 'usage_limit' } } },
    turns: { propertyNames: { enum: known('turns', 'when') } },
    visits: { required: ['when'], propertyNames: { enum: known('visits', 'when') } },
  };
  return {
    anyOf: known(...WORDS, 'turns', 'visits').map((key) => ({ required: [key] })),
    dependencies: Object.fromEntries(known(...Object.keys(needs)).map((key) => [key, needs[key]])),
  };
}
