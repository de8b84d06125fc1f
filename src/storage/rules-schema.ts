import { z } from 'zod';
import { GUARD_OUTCOMES } from '../language/guards.ts';
import { TAG_NAMES } from '../language/transitions/index.ts';

const count = z.number().int().nonnegative();

const guards = z.strictObject({
  retry: count.nullable(),
  on: z.partialRecord(z.enum(GUARD_OUTCOMES), z.string()),
  maxVisitsPer: z.enum(['agent', 'call']),
  stuck: z.strictObject({ after: count, files: z.array(z.string()).nullable() }).nullable(),
});

const policyEntry = z.strictObject({
  tag: z.enum(TAG_NAMES),
  target: z.string().nullable(),
  attributes: z.record(z.string(), z.string()),
  payload: z.string().nullable().exactOptional(),
});

const evaluator = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('pattern'),
    pattern: z.string(),
    overridesOn: z.enum(['match', 'mismatch']),
    instead: policyEntry,
  }),
  z.strictObject({ kind: z.literal('script'), file: z.string() }),
  z.strictObject({
    kind: z.literal('prompt'),
    file: z.string(),
    model: z.string().nullable(),
    effort: z.string().nullable(),
  }),
]);

/** The rules of a state, as an agent keeps them while it is there. */
export const rulesSchema = z.strictObject({
  policy: z.array(policyEntry),
  maxVisits: count.nullable(),
  forceImplicit: z.boolean().exactOptional(),
  repeatable: z.boolean().exactOptional(),
  evaluators: z.array(evaluator).exactOptional(),
  checksResult: z.boolean().exactOptional(),
  guards: guards.exactOptional(),
});
