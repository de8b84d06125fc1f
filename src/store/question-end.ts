import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { AskAnswer } from '../core/ask.ts';
import { errorCodeOf, errorMessageOf } from '../errors.ts';
import { ANSWER_VERSION } from './answer-file.ts';

/** How a question ended: with an answer, and the folder that holds its files, or because its time was over. */
export type QuestionEnd =
  | { readonly kind: 'answered'; readonly answer: AskAnswer; readonly staged: string | null }
  | { readonly kind: 'timed_out'; readonly at: number }
  | { readonly kind: 'unreadable'; readonly message: string };

const END_FILE = z.discriminatedUnion('kind', [
  z.object({
    version: z.literal(ANSWER_VERSION),
    kind: z.literal('answered'),
    ask: z.string(),
    text: z.string(),
    by: z.string(),
    answered_at: z.number(),
    files: z.array(z.string()),
    staged: z.string().nullable(),
  }),
  z.object({ version: z.literal(ANSWER_VERSION), kind: z.literal('timed_out'), ask: z.string(), at: z.number() }),
]);

/** Reads how a question ended; undefined if it has not. */
export function readQuestionEnd(file: string): QuestionEnd | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    return { kind: 'unreadable', message: `${file} cannot be read: ${errorMessageOf(error)}` };
  }
  return parseQuestionEnd(text, file);
}

/** Parses how a question ended. */
export function parseQuestionEnd(text: string, file: string): QuestionEnd {
  const data = parseEnd(text);
  if (data === undefined) return { kind: 'unreadable', message: `${file} is not an answer that Raymond wrote` };
  if (data.kind === 'timed_out') return { kind: 'timed_out', at: data.at };
  const { ask, text: answer, by, answered_at: answeredAt, files, staged } = data;
  return {
    kind: 'answered',
    answer: { ask, text: answer, by, answeredAt, files },
    staged: staged && join(dirname(file), basename(staged)),
  };
}

function parseEnd(text: string): z.infer<typeof END_FILE> | undefined {
  try {
    return END_FILE.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
