import { z } from 'zod';
import { ENDINGS } from '../core/run.ts';
import { amount, checkNames, count, exitCode, type Issues, text } from './answer-schema.ts';

/*
 * The shape of what is expected. As in answer-schema.ts, a message is what was wanted.
 */

const several = z
  .union([text, z.array(text, { error: 'a list of texts' }).min(1, { error: 'a list of at least one' })], {
    error: 'a text or a list of texts',
  })
  .transform((given) => [given].flat());

const TEXT = {
  equals: text.optional(),
  contains: several.optional(),
  lacks: several.optional(),
  matches: several.optional(),
};

const FILE = { ...TEXT, absent: z.literal(true, { error: '`true`' }).optional() };

const ONE = 'a text or a mapping';
const wish = z.union([text, z.strictObject(TEXT).superRefine(checkWish)], { error: ONE });
const fileWish = z.union([text, z.strictObject(FILE).superRefine(checkWish)], { error: ONE });
const wishes = z.array(wish, { error: 'a list of texts or mappings' }).min(1, { error: 'a list of at least one' });

const states = z.array(text, { error: 'a list of states' });
const perState = <T extends z.ZodType>(each: T, what: string) =>
  z.union([each, z.record(z.string(), each, { error: what })], { error: what });

/** What should come of a scenario. */
export const EXPECT = {
  path: z
    .union([states, z.record(z.string(), states, { error: 'a mapping of agents to lists of states' })], {
      error: 'a list of states, or a mapping of agents to such lists',
    })
    .optional(),
  result: wish.optional(),
  results: z.record(z.string(), wish, { error: 'a mapping of agents to results' }).optional(),
  prompts: z
    .record(z.string(), z.union([wish, wishes], { error: 'a text, a mapping or a list of them' }), {
      error: 'a mapping of states to prompts',
    })
    .optional(),
  files: z
    .record(z.string(), fileWish, { error: 'a mapping of files to what they hold' })
    .superRefine(checkNames)
    .optional(),
  cost: perState(amount, 'a number from 0, or a mapping of states to such numbers').optional(),
  turns: perState(count, 'a whole number from 0, or a mapping of states to such numbers').optional(),
  reminders: perState(count, 'a whole number from 0, or a mapping of states to such numbers').optional(),
  warnings: perState(count, 'a whole number from 0, or a mapping of states to such numbers').optional(),
  status: z.enum(ENDINGS, { error: 'the status of a run' }).optional(),
  exit: exitCode.optional(),
};

export const expect = z.strictObject(EXPECT, { error: 'a mapping of what is expected' });

export type Expected = z.infer<typeof expect>;

/** The keys that are known at a place within `expect`. */
export function expectKeysAt(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return Object.keys(EXPECT);
  return path[0] === 'files' ? Object.keys(FILE) : Object.keys(TEXT);
}

type Wished = { readonly matches?: readonly string[] | undefined; readonly absent?: true | undefined };

function checkWish(given: Wished, at: Issues): void {
  const keys = Object.keys(given);
  if (keys.length === 0)
    at.addIssue({ code: 'custom', message: `this expects nothing: give it one of ${Object.keys(TEXT).join(', ')}` });
  if (given.absent && keys.length > 1) {
    const message = '`absent` stands alone: a file that is not there holds nothing';
    at.addIssue({ code: 'custom', path: ['absent'], message, params: { key: true } });
  }
  for (const pattern of given.matches ?? []) {
    const fault = faultOfPattern(pattern);
    if (fault !== null) at.addIssue({ code: 'custom', path: ['matches'], message: fault });
  }
}

/** Why a pattern is no regular expression, or null. */
function faultOfPattern(pattern: string): string | null {
  try {
    new RegExp(pattern, 'm');
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : '';
    return `this is no regular expression: ${why}`;
  }
}
