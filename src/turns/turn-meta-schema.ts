import { z } from 'zod';

/** The schema of a turn's `turn.json`. */
export const TURN_META_SCHEMA = z.object({
  timeoutMs: z.number().positive().nullable(),
  /** The setting that the timeout comes from, in words. */
  timeoutFrom: z.string(),
});

/** What the process that supervises a turn has to know, also one that adopts the turn later. */
export type TurnMeta = z.infer<typeof TURN_META_SCHEMA>;
