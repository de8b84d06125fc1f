import { z } from 'zod';
import { TAG_NAMES } from '../language/transitions/index.ts';

const count = z.number().int().nonnegative();
const text = z.string();
const textOrNull = z.string().nullable();
const texts = z.record(z.string(), z.string());

/** The call of a tool that a question is about. */
const permission = z.strictObject({
  tool: text,
  input: text,
  digest: text,
  reason: textOrNull,
  rules: z.array(text),
  folders: z.array(text),
  form: z.enum(['tool', 'question', 'plan']),
  call: text,
  request: text,
});

const questionFields = {
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
};

const question = z.strictObject({ ...questionFields, permission: permission.nullable().default(null) });

const decided = {
  decision: z.strictObject({ kind: z.enum(['allow', 'always', 'deny']), text }),
  by: text,
};

/** A question about a tool that is not settled. */
export const PERMISSION_QUESTION_SCHEMA = z.strictObject({
  id: text,
  turn: count,
  question: z.strictObject({ ...questionFields, permission }),
  askedAt: z.number(),
  untilMs: z.number().nullable(),
  state: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('open') }),
    z.strictObject({ kind: z.literal('parked') }),
    z.strictObject({ kind: z.literal('answered'), ...decided }),
    z.strictObject({ kind: z.literal('decided'), ...decided }),
  ]),
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
  z.strictObject({ kind: z.literal('permissions') }),
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
