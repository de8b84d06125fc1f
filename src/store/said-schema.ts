import { z } from 'zod';

/** What a person has said to an agent, in the state file. */
export const SAID_SCHEMA = z.strictObject({
  id: z.string(),
  text: z.string(),
  by: z.string(),
  saidAt: z.number(),
  turn: z.number().int().nonnegative().nullable(),
  heard: z.boolean(),
});

/** What a person wants instead of a running turn. */
export const INTERRUPTION_SCHEMA = z.strictObject({
  id: z.string(),
  turn: z.number().int().nonnegative(),
  text: z.string().nullable(),
  by: z.string(),
  saidAt: z.number(),
});
