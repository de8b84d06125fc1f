import { z } from 'zod';
import { type Answer, type Case, FAILURES, type Visit } from './scenario.ts';

/*
 * The shape of the answers in a scenario file. A message here is what was wanted: it follows "must be". What is wrong beyond the shape
 * of one value is a custom issue with a whole sentence; `key: true` puts it where the key stands.
 */

/** What is said where a text is wanted. */
export const WANTS_TEXT = 'a text';

export const text = z.string({ error: WANTS_TEXT });
export const amount = z.number({ error: 'a number from 0' }).min(0, { error: 'a number from 0' });
export const count = z.int({ error: 'a whole number from 0' }).min(0, { error: 'a whole number from 0' });
const texts = z.array(text, { error: 'a list of texts' });
export const exitCode = z
  .int({ error: 'a whole number from 0 to 255' })
  .min(0, { error: 'a whole number from 0 to 255' })
  .max(255, { error: 'a whole number from 0 to 255' });

const yesOrNo = z.boolean({ error: 'true or false' });

/** Files that are written, with their contents, and folders that are made, which have none. */
export const files = z
  .record(z.string(), z.union([text, z.null()], { error: WANTS_TEXT }), {
    error: 'a mapping of files to their contents',
  })
  .superRefine(checkFiles)
  .transform((given) => Object.fromEntries(Object.entries(given).map(([name, content]) => [name, content ?? ''])));

const TURN = {
  text: text.optional(),
  write: files.optional(),
  uses: texts.optional(),
  deny: texts.optional(),
  cost: amount.optional(),
  seconds: amount.optional(),
  fail: z.enum(FAILURES, { error: 'the name of a failure' }).optional(),
  resets_in: amount.optional(),
  exit: exitCode.optional(),
  stderr: text.optional(),
  crash: yesOrNo.optional(),
};

type GivenTurn = z.infer<z.ZodObject<typeof TURN>>;

/** What makes a turn a turn: one of these must be there. */
export const WORDS = ['text', 'write', 'uses', 'deny', 'fail', 'exit', 'stderr', 'crash'] as const;

const ONE = 'a text or a mapping';
const listOf = <T extends z.ZodType>(each: T) =>
  z.array(each, { error: `a list, each entry ${ONE}` }).min(1, { error: 'a list of at least one' });

const turn = z
  .union([text, z.strictObject(TURN).superRefine(checkTurn)], { error: ONE })
  .transform((given) => answerOf(typeof given === 'string' ? { text: given } : given));

const VISIT = { ...TURN, turns: listOf(turn).optional() };

type GivenVisit = z.infer<z.ZodObject<typeof VISIT>>;

const visit = z
  .union([text, z.strictObject(VISIT).superRefine(checkVisit)], { error: ONE })
  .transform((given) => visitOf(typeof given === 'string' ? { text: given } : given));

const ENTRY = {
  ...VISIT,
  when: z.record(z.string(), text, { error: 'a mapping of variables to values' }).optional(),
  visits: listOf(visit).optional(),
};

type GivenEntry = z.infer<z.ZodObject<typeof ENTRY>>;

const entry = z
  .union([text, z.strictObject(ENTRY).superRefine(checkEntry)], { error: ONE })
  .transform((given): Case => {
    const { when = {}, visits, ...only } = typeof given === 'string' ? { text: given } : given;
    return { when, everyVisit: visits === undefined, visits: visits ?? [visitOf(only)] };
  });

/** What is answered in one state. */
export const part = z
  .union([entry, listOf(entry)], { error: 'a text, a mapping or a list of them' })
  .transform((given): readonly Case[] => (isList(given) ? casesOf(given) : [given]));

/** The keys that an answer can have. */
export const ANSWER_KEYS = Object.keys(ENTRY);

/** The keys that are known at a place within `answers`. */
export const answerKeysAt = (path: readonly PropertyKey[]): readonly string[] =>
  path.includes('turns') ? Object.keys(TURN) : path.includes('visits') ? Object.keys(VISIT) : ANSWER_KEYS;

/** Why no file may be written there, or undefined; `name` is what to call it. */
export function faultOfPath(path: string, name = path): string | undefined {
  const parts = path.split(/[/\\]/);
  const outside = parts.includes('..') || parts[0] === '' || /^[A-Za-z]:/.test(path);
  if (path === '' || path.includes('\0') || ['', '.'].includes(parts.at(-1) ?? ''))
    return `\`${name}\` cannot be the name of a file`;
  return outside ? `\`${name}\` leaves the working directory: name a file inside it, without \`..\`` : undefined;
}

/** What ends so is the name of a folder. */
export const isFolderName = (name: string): boolean => name.endsWith('/');

/** Why this cannot be made: a file with its content, or a folder, which holds nothing yet. */
export function faultOfFile(name: string, content: string): string | undefined {
  if (!isFolderName(name)) return faultOfPath(name);
  const fault = content === '' ? undefined : `\`${name}\` is a folder and holds no text: name a file in it`;
  return faultOfPath(name.slice(0, -1), name) ?? fault;
}

export type Issues = { addIssue(issue: { code: 'custom'; path?: string[]; message: string; params?: object }): void };

/** Whatever stands for a file must be in the working directory. */
export function checkNames(named: object, at: Issues): void {
  for (const name of Object.keys(named)) {
    const fault = faultOfPath(name);
    if (fault !== undefined) at.addIssue({ code: 'custom', path: [name], message: fault, params: { key: true } });
  }
}

function checkFiles(given: Readonly<Record<string, string | null>>, at: Issues): void {
  for (const [name, content] of Object.entries(given)) {
    const fault = faultOfFile(name, content ?? '');
    if (fault !== undefined) wrongKey(name, fault, at);
    else if (content === null && !isFolderName(name))
      at.addIssue({ code: 'custom', path: [name], message: `\`${name}\` must be ${WANTS_TEXT}, not nothing` });
  }
}

function checkTurn(given: GivenTurn, at: Issues): void {
  if (WORDS.every((key) => given[key] === undefined))
    at.addIssue({ code: 'custom', message: `this answer says nothing: give it one of ${WORDS.join(', ')}` });
  if (given.resets_in !== undefined && given.fail !== 'usage_limit')
    wrongKey('resets_in', '`resets_in` goes with `fail: usage_limit` only: remove it', at);
}

function checkVisit(given: GivenVisit, at: Issues): void {
  if (given.turns === undefined) checkTurn(given, at);
  else alone('turns', Object.keys(TURN), given, at);
}

function checkEntry(given: GivenEntry, at: Issues): void {
  if (given.visits === undefined) checkVisit(given, at);
  else alone('visits', Object.keys(VISIT), given, at);
  if (given.visits !== undefined && given.when === undefined)
    wrongKey('visits', '`visits` goes with `when`: without it, write the answers as a list', at);
}

/** What stands in a list does not stand beside it as well. */
export function alone(list: string, others: readonly string[], given: object, at: Issues): void {
  for (const key of others.filter((name) => name in given)) {
    wrongKey(key, `\`${key}\` cannot stand beside \`${list}\`: move it into one of them`, at);
  }
}

function wrongKey(key: string, message: string, at: Issues): void {
  at.addIssue({ code: 'custom', path: [key], message, params: { key: true } });
}

const isList = (given: Case | readonly Case[]): given is readonly Case[] => Array.isArray(given);

/** Entries with `when` are cases of their own; the others are the visits of everybody else, in order. */
function casesOf(entries: readonly Case[]): readonly Case[] {
  const special = entries.filter(({ when }) => Object.keys(when).length > 0);
  const others = entries.filter(({ when }) => Object.keys(when).length === 0);
  if (others.length === 0) return special;
  return [...special, { when: {}, everyVisit: false, visits: others.flatMap(({ visits }) => visits) }];
}

const visitOf = ({ turns, ...only }: GivenVisit): Visit => turns ?? [answerOf(only)];

const answerOf = (given: GivenTurn): Answer => ({
  text: given.text ?? '',
  write: given.write ?? {},
  uses: given.uses ?? [],
  deny: given.deny ?? [],
  costUsd: given.cost ?? 0,
  seconds: given.seconds ?? 0,
  fail: given.fail ?? null,
  resetsInSeconds: given.resets_in ?? 60,
  exit: given.exit ?? 0,
  stderr: given.stderr ?? '',
  crash: given.crash ?? false,
});
