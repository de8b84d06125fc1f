import { createHash } from 'node:crypto';

/** Identifies a content: nobody finds another one with the same digest. */
export const digestOf = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 32);
