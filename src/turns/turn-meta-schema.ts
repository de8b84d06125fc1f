import { z } from 'zod';

/** The schema of a turn's `turn.json`. */
export const TURN_META_SCHEMA = z.object({
  timeoutMs: z.number().positive().nullable(),
  /** The setting that the timeout comes from, in words. */
  timeoutFrom: z.string(),
  /** True if a tag, the state or the options name its model; left out for a script, and in older files. */
  namesModel: z.boolean().optional(),
});

/** The facts for the process that supervises a turn, including one that adopts it later. */
export type TurnMeta = z.infer<typeof TURN_META_SCHEMA>;
