import { z } from 'zod';
import { alone, amount, answerKeysAt, count, files, type Issues, part, text } from './answer-schema.ts';
import { EXPECT, expect, expectKeysAt } from './expect-schema.ts';

/*
 * The shape of a whole scenario file. As in answer-schema.ts, a message is what was wanted.
 */

/** More than the config takes either. */
const TOO_MUCH = 1e9;
const someAmount = amount.lt(TOO_MUCH, { error: 'a number from 0' });
const someCount = count.lt(TOO_MUCH, { error: 'a whole number from 0' });

/** The options of a run that make a difference to a scenario. What they mean is for the config to say. */
const OPTIONS = {
  budget: someAmount.optional(),
  max_iterations: someCount.optional(),
  parallel: someCount.optional(),
  reminders: someCount.optional(),
  retries: someCount.optional(),
  wait: z.boolean({ error: 'true or false' }).optional(),
  reset_stack: z.enum(['keep', 'clear'], { error: '`keep` or `clear`' }).optional(),
  timeout: someAmount.optional(),
};

/** As `fingerprintOf` makes them. */
const fingerprint = z
  .string({ error: 'twelve hexadecimal digits' })
  .regex(/^[0-9a-f]{12}$/, { error: 'twelve hexadecimal digits' });

const SHARED = {
  answers_from: text.optional(),
  input: text.optional(),
  vars: z.record(z.string(), text, { error: 'a mapping of variables to values' }).optional(),
  options: z.strictObject(OPTIONS, { error: 'a mapping of options to values' }).optional(),
  files: files.optional(),
  files_from: text.optional(),
  scripts: z.enum(['real', 'played'], { error: '`real` or `played`' }).optional(),
  recorded_scripts: z.record(z.string(), fingerprint, { error: 'a mapping of scripts to fingerprints' }).optional(),
  answers: z.record(z.string(), part, { error: 'a mapping of states to answers' }).optional(),
};

const LISTED = { name: text, workflow: text.optional(), ...SHARED, expect: expect.optional() };

const listed = z.strictObject(LISTED, { error: 'a mapping with the key `name`' });

const FILE = {
  name: text.optional(),
  workflow: text.optional(),
  ...SHARED,
  expect: expect.optional(),
  scenarios: z.array(listed, { error: 'a list of scenarios' }).min(1, { error: 'a list of at least one' }).optional(),
};

/** A whole file. */
export const SCENARIO = z
  .strictObject(FILE, { error: 'a mapping with keys such as `answers`' })
  .superRefine((given: object, at: Issues) => {
    if ('scenarios' in given) alone('scenarios', ['name', 'expect'], given, at);
  });

/** What a file holds, and what one of its scenarios does. */
export type GivenFile = z.infer<typeof SCENARIO>;
export type GivenScenario = Omit<GivenFile, 'scenarios'>;

/** The keys that are known at a place of the file. */
export function keysAt([first, second, ...rest]: readonly PropertyKey[]): readonly string[] {
  if (first === undefined) return Object.keys(FILE);
  if (first === 'scenarios') return typeof second === 'number' && rest.length > 0 ? keysAt(rest) : Object.keys(LISTED);
  if (first === 'expect') return second === undefined ? Object.keys(EXPECT) : expectKeysAt([second, ...rest]);
  return first === 'options'
    ? Object.keys(OPTIONS)
    : answerKeysAt([first, ...(second === undefined ? [] : [second]), ...rest]);
}
