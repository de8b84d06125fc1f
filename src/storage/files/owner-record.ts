import { z } from 'zod';
import { tryParseJson } from '../../language/text/json.ts';
import type { ProcessIdentity } from '../../process/identity.ts';

/** The content of an owner's file. */
export interface OwnerRecord extends ProcessIdentity {
  /** The id of the ownership; null in a file of an older Raymond. */
  readonly life: string | null;
  /** The pipe that the owner and its turns hold open, if they do. */
  readonly presence?: string | undefined;
  /** The version of the requests that the owner reads; 0 for an older Raymond, which reads none. */
  readonly inbox: number;
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
  inbox: z.number().default(0),
});

/** Reads an owner's file; undefined if it cannot be read. */
export function parseOwnerRecord(text: string): OwnerRecord | undefined {
  return RECORD.safeParse(tryParseJson(text)).data;
}
