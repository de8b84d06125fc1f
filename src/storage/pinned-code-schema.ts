import { z } from 'zod';

const digests = z.record(z.string(), z.string());

/** The code that a run has pinned, as the state file holds it. */
export const PINNED_CODE_SCHEMA = z.strictObject({
  workflows: z.record(z.string(), z.strictObject({ files: digests, hasHelpers: z.boolean() })),
  listed: digests,
});

/** A file whose change waits for a person, as the state file holds it. */
export const CHANGED_FILE_SCHEMA = z.strictObject({ workflow: z.string(), file: z.string(), digest: z.string() });
