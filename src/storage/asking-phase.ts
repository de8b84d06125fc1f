import { z } from 'zod';
import { TAG_NAMES } from '../language/transitions/index.ts';

const count = z.number().int().nonnegative();
const text = z.string();
const textOrNull = z.string().nullable();
const texts = z.record(z.string(), z.string());

const question = z.strictObject({
  text,
  next: text,
  timeoutMs: z.number().nullable(),
  timeoutNext: textOrNull,
  displayFiles: z.array(z.strictObject({ path: text, label: textOrNull })),
  uploads: z
    .strictObject({
      slots: z.array(z.strictObject({ name: text, mime: textOrNull })),
      bucket: z.boolean(),
      maxCount: count.nullable(),
      maxSize: count.nullable(),
      maxTotalSize: count.nullable(),
      mime: z.array(text),
    })
    .nullable(),
  // Questions of earlier versions have none.
  choices: z
    .strictObject({ labels: z.array(text), other: z.boolean(), many: z.boolean() })
    .nullable()
    .default(null),
});

const followedTag = z.strictObject({
  tag: z.enum(TAG_NAMES),
  target: textOrNull,
  attributes: texts,
  written: z.strictObject({ target: textOrNull, attributes: texts }),
});

/** The kind of prompt that a turn sends. */
export const PROMPT_SCHEMA = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('state') }),
  z.strictObject({ kind: z.literal('reminder'), text: z.string() }),
  z.strictObject({ kind: z.literal('continue') }),
  z.strictObject({ kind: z.literal('said') }),
  z.strictObject({ kind: z.literal('compact') }),
]);

/** The phase of an agent that waits for the answer of a person. */
export const ASKING_PHASE_SCHEMA = z.strictObject({
  kind: z.literal('asking'),
  ask: text,
  question,
  askedAt: z.number(),
  untilMs: z.number().nullable(),
  tag: followedTag,
  implicit: z.boolean(),
  origin: z
    .strictObject({
      requested: z.array(followedTag),
      choice: z.strictObject({ by: z.enum(['answer', 'evaluator', 'guard']), name: textOrNull, why: textOrNull }),
    })
    .exactOptional(),
  interrupted: PROMPT_SCHEMA.exactOptional(),
});
