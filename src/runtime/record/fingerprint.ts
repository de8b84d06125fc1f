import { createHash } from 'node:crypto';

/** What a script is known again by: the same text has the same, however its lines end. */
export const fingerprintScript = (text: string): string =>
  createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex').slice(0, 12);
