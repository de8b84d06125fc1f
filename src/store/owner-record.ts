import { z } from 'zod';
import { tryParseJson } from '../core/json.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** What an owner's file holds. */
export interface OwnerRecord extends ProcessIdentity {
  /** The id of the ownership; null in a file of an older Raymond. */
  readonly life: string | null;
  /** The pipe that the owner and its turns hold open, if they do. */
  readonly presence?: string | undefined;
}

const RECORD: z.ZodType<OwnerRecord> = z.object({
  pid: z.number().int().positive(),
  startTime: z.string().nullable(),
  bootId: z.string().nullable(),
  namespace: z.string().nullable(),
  host: z.string(),
  life: z
    .string()
    .regex(/^[0-9a-f]+$/)
    .nullable()
    .default(null),
  presence: z.string().optional(),
});

/** Reads an owner's file; undefined if it cannot be read. */
export function parseOwnerRecord(text: string): OwnerRecord | undefined {
  return RECORD.safeParse(tryParseJson(text)).data;
}
