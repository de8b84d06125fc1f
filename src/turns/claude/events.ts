import { z } from 'zod';
import type { ClaudeEvent } from './event.ts';
import { ASSISTANT, INIT, RATE_LIMIT, RESULT, RETRY, USER } from './schemas.ts';

const TYPED = z.object({ type: z.string(), subtype: z.string().default('').catch('') });
const MOST_GARBAGE = 500;

const READERS: Readonly<Record<string, z.ZodType<ClaudeEvent>>> = {
  'system/init': INIT,
  'system/api_retry': RETRY,
  assistant: ASSISTANT,
  user: USER,
  result: RESULT,
  rate_limit_event: RATE_LIMIT,
};

/** Reads one line. It never throws: what it cannot make sense of is an event too. */
export const readEvent = (line: string): ClaudeEvent => eventOf(parseJson(line), line);

/** The event that the value of a line stands for. */
export function eventOf(value: unknown, line: string): ClaudeEvent {
  const typed = TYPED.safeParse(value);
  if (!typed.success) return { kind: 'garbage', text: line.slice(0, MOST_GARBAGE) };
  const { type, subtype } = typed.data;
  const name = type === 'system' ? `${type}/${subtype}` : type;
  return readAs(name, value) ?? { kind: 'other', type: name };
}

function readAs(name: string, value: unknown): ClaudeEvent | undefined {
  try {
    return Object.hasOwn(READERS, name) ? READERS[name]?.safeParse(value).data : undefined;
  } catch {
    // Lists in lists may go deeper than a stack does.
    return undefined;
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
