import { z } from 'zod';
import type { Workspace } from '../core/run/workspace.ts';
import type { Worktree } from '../core/run/worktree.ts';

const count = z.int().nonnegative();
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
