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
