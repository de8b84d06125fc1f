import { z } from 'zod';
import { tryParseJson } from '../../core/json.ts';
import type { ClaudeEvent } from './event.ts';
import {
  ASSISTANT_SCHEMA,
  INIT_SCHEMA,
  RATE_LIMIT_SCHEMA,
  RESULT_SCHEMA,
  RETRY_SCHEMA,
  USER_SCHEMA,
} from './event-schemas.ts';

const EVENT_TYPE = z.object({ type: z.string(), subtype: z.string().default('').catch('') });
const MAX_GARBAGE_CHARS = 500;

const EVENT_SCHEMAS: Readonly<Record<string, z.ZodType<ClaudeEvent>>> = {
  'system/init': INIT_SCHEMA,
  'system/api_retry': RETRY_SCHEMA,
  assistant: ASSISTANT_SCHEMA,
  user: USER_SCHEMA,
  result: RESULT_SCHEMA,
  rate_limit_event: RATE_LIMIT_SCHEMA,
};

/** Reads one line. It never throws: what it cannot make sense of is an event too. */
export const parseClaudeLine = (line: string): ClaudeEvent => parseClaudeEvent(tryParseJson(line), line);

/** The event that the value of a line stands for. */
export function parseClaudeEvent(value: unknown, line: string): ClaudeEvent {
  const typed = EVENT_TYPE.safeParse(value);
  if (!typed.success) return { kind: 'garbage', text: line.slice(0, MAX_GARBAGE_CHARS) };
  const { type, subtype } = typed.data;
  const name = type === 'system' ? `${type}/${subtype}` : type;
  return parseAs(name, value) ?? { kind: 'other', type: name };
}

function parseAs(name: string, value: unknown): ClaudeEvent | undefined {
  try {
    return Object.hasOwn(EVENT_SCHEMAS, name) ? EVENT_SCHEMAS[name]?.safeParse(value).data : undefined;
  } catch {
    // Lists in lists may go deeper than a stack does.
    return undefined;
  }
}
