import { z } from 'zod';
import type { Workspace } from '../core/run/workspace.ts';
import type { Worktree } from '../core/run/worktree.ts';
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

/** A message to an agent in the run file. */
export const SAID_SCHEMA = z.strictObject({
  id: z.string(),
  text: z.string(),
  by: z.string(),
  saidAt: z.number(),
  turn: z.number().int().nonnegative().nullable(),
  delivered: z.boolean(),
});

/** A person's request to interrupt a turn. */
export const INTERRUPTION_SCHEMA = z.strictObject({
  id: z.string(),
  turn: z.number().int().nonnegative(),
  text: z.string().nullable(),
  by: z.string(),
  saidAt: z.number(),
});

const digests = z.record(z.string(), z.string());

/** The code that a run has pinned, as the state file holds it. */
export const PINNED_CODE_SCHEMA = z.strictObject({
  workflows: z.record(z.string(), z.strictObject({ files: digests, hasHelpers: z.boolean() })),
  listed: digests,
});

/** A file whose change waits for a person, as the state file holds it. */
export const CHANGED_FILE_SCHEMA = z.strictObject({ workflow: z.string(), file: z.string(), digest: z.string() });

const place = { path: z.string(), branch: z.string(), base: z.string(), repository: z.string() };
const content = {
  kept: z.boolean(),
  commits: count,
  dirty: z.boolean(),
  discarded: z.literal(true).exactOptional(),
};

const worktreePlace = { ...place, remote: z.string().exactOptional() };

/** The worktree of an agent in a state file. */
export const WORKTREE_SCHEMA: z.ZodType<Worktree> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('wanted') }),
  z.strictObject({ kind: z.literal('made'), ...worktreePlace }),
  z.strictObject({ kind: z.literal('closed'), ...worktreePlace, ...content, pushed: z.boolean().exactOptional() }),
]);

const workspacePlace = z.strictObject({ ...place, remote: z.string() });

/** The clone of a run in a state file. */
export const WORKSPACE_SCHEMA: z.ZodType<Workspace> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('wanted'), place: workspacePlace.nullable() }),
  z.strictObject({ kind: z.literal('made'), place: workspacePlace }),
  z.strictObject({
    kind: z.literal('left'),
    place: workspacePlace,
    content: z.strictObject({ ...content, pushed: z.boolean() }),
  }),
]);
