import { existsSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import { tryParseJson } from './language/text/json.ts';

/** The data in a JSON file of a turn's folder, or why there is none. */
export type JsonFile<T> =
  | { readonly kind: 'data'; readonly data: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'damaged'; readonly message: string };

/** Reads a file that Raymond itself wrote. A power cut may have torn it, and somebody may have edited it. */
export function readJsonFile<T>(file: string, schema: z.ZodType<T>): JsonFile<T> {
  // Often it is missing, and to look takes less time than an error.
  if (!existsSync(file)) return { kind: 'missing' };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return { kind: 'missing' };
  }
  const { data, error } = schema.safeParse(tryParseJson(text));
  if (data !== undefined) return { kind: 'data', data };
  const issue = error?.issues[0];
  const place = issue === undefined || issue.path.length === 0 ? '' : `\`${issue.path.join('.')}\`: `;
  return { kind: 'damaged', message: `${file} is damaged: ${place}${issue?.message ?? 'it is not JSON'}` };
}
