import { z } from 'zod';
import { isPlainFileName } from '../language/ask.ts';
import type { Scope } from '../language/state-names.ts';
import { DURATION_PATTERN, parseDurationMs } from '../language/text/duration.ts';
import type { TextPosition } from '../language/text/text.ts';
import type { YamlDocument, YamlPath } from '../yaml/document.ts';
import { amountSchema, type IssueCollector, textOr, textSchema } from './answer-schema.ts';
import { BY_AGENT_AND_STATE } from './schema-keywords.ts';
import { findStateFile, splitAgentAndState } from './state-names.ts';

/** The answer of a person in a scenario, and how long after the question it comes. */
export interface PersonAnswer {
  readonly text: string;
  readonly afterMs: number;
  /** The contents of the files that come with it, by name. */
  readonly files: Readonly<Record<string, string>>;
}

/** The answers to the questions of a state: always the same, or one for each question of an agent; null if nobody answers. */
export interface PeopleAnswers extends TextPosition {
  /** The name of the file for messages. */
  readonly file: string;
  readonly everyQuestion: boolean;
  readonly answers: readonly (PersonAnswer | null)[];
}

/** The answers of people by the state that asks, or by `AGENT/STATE`. */
export type AsksByState = ReadonlyMap<string, PeopleAnswers>;

const FILE_NAMES = '^[^./\\\\:\\u0000-\\u001f][^/\\\\:\\u0000-\\u001f]*$';
const EXPECTED_DURATION = 'a duration such as 90s or 24h';

const PERSON_SHAPE = {
  text: textSchema.describe('What the person answers.'),
  after: z
    .union([amountSchema, z.string({ error: EXPECTED_DURATION }).regex(new RegExp(DURATION_PATTERN))], {
      error: EXPECTED_DURATION,
    })
    .optional()
    .describe('How long after the question; at once if it is left out.'),
  files: z
    .record(z.string(), textSchema, { error: 'a mapping of files to their contents' })
    .superRefine((files: object, issues: IssueCollector) => {
      for (const name of Object.keys(files))
        if (!isPlainFileName(name))
          issues.addIssue({
            code: 'custom',
            path: [name],
            message: `\`${name}\` cannot be the name of a file`,
            params: { key: true },
          });
    })
    .meta({ propertyNames: { pattern: FILE_NAMES } })
    .optional()
    .describe('The files that come with the answer, with their contents.'),
};

const personSchema = z
  .union([textOr(z.strictObject(PERSON_SHAPE), 'person'), z.null()], {
    error: 'a text, a mapping, or nothing if nobody answers',
  })
  .transform((value): PersonAnswer | null => {
    if (value === null) return null;
    const { text, after = 0, files = {} } = typeof value === 'string' ? { text: value } : value;
    return { text, afterMs: parseDurationMs(after) ?? 0, files };
  });

/** The schema of `asks`. */
export const asksSchema = z
  .record(
    z.string(),
    z.union([personSchema, z.array(personSchema).min(1, { error: 'a list of at least one' })], {
      error: 'a text, a mapping or a list of them',
    }),
    { error: 'a mapping of states to answers' },
  )
  .meta(BY_AGENT_AND_STATE);

/** The keys of an answer of a person. */
export const PERSON_KEYS = Object.keys(PERSON_SHAPE);

/** Reads the answers of people in one block of a file. */
export function readAsks(
  { name, document }: { readonly name: string; readonly document: YamlDocument },
  scope: Scope,
  asks: z.infer<typeof asksSchema> | undefined,
  path: YamlPath = [],
): AsksByState {
  return new Map(
    Object.entries(asks ?? {}).flatMap(([key, value]): [string, PeopleAnswers][] => {
      const { agent, name: state } = splitAgentAndState(key, scope);
      const file = findStateFile(scope, state);
      if (file === undefined) return [];
      const at = document.positionOfKey([...path, 'asks', key]);
      const answers = Array.isArray(value)
        ? (value as readonly (PersonAnswer | null)[])
        : [value as PersonAnswer | null];
      const everyQuestion = !Array.isArray(value);
      return [[agent === null ? file : `${agent}/${file}`, { file: name, ...at, everyQuestion, answers }]];
    }),
  );
}

/** The answer to the nth question of an agent in a state: null if nobody answers, undefined if the scenario has none. */
export function choosePersonAnswer(
  asks: AsksByState,
  { agent, state }: { readonly agent: string; readonly state: string },
  nth: number,
): { readonly key: string; readonly answer: PersonAnswer | null } | undefined {
  for (const key of [`${agent}/${state}`, state]) {
    const people = asks.get(key);
    const answer = people?.answers[people.everyQuestion ? 0 : nth - 1];
    if (answer !== undefined) return { key, answer };
  }
  return undefined;
}

/** Warns of answers of people that were never asked for. */
export const describeUnusedAsks = (asks: AsksByState, used: ReadonlySet<string>): readonly string[] =>
  [...asks].flatMap(([key, { file, line, column }]) =>
    used.has(key) ? [] : [`${file}:${line}:${column}: the answer of a person for ${key} was never used`],
  );
