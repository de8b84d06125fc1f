import { z } from 'zod';

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
