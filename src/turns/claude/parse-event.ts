import { z } from 'zod';
import { tryParseJson } from '../../language/text/json.ts';
import { MAX_LINE_BYTES } from '../../process/lines.ts';
import {
  ASSISTANT_SCHEMA,
  CANCEL_SCHEMA,
  type ClaudeEvent,
  COMPACTED_SCHEMA,
  INIT_SCHEMA,
  RECEIPT_SCHEMA,
  REQUEST_SCHEMA,
  RESULT_SCHEMA,
  RETRY_SCHEMA,
  USER_SCHEMA,
} from './event.ts';
import { RATE_LIMIT_SCHEMA } from './rate-limit.ts';

const EVENT_TYPE = z.object({ type: z.string(), subtype: z.string().default('').catch('') });
const MAX_GARBAGE_CHARS = 500;

const EVENT_SCHEMAS: Readonly<Record<string, z.ZodType<ClaudeEvent>>> = {
  'system/init': INIT_SCHEMA,
  'system/api_retry': RETRY_SCHEMA,
  'system/compact_boundary': COMPACTED_SCHEMA,
  assistant: ASSISTANT_SCHEMA,
  user: USER_SCHEMA,
  result: RESULT_SCHEMA,
  rate_limit_event: RATE_LIMIT_SCHEMA,
  control_request: REQUEST_SCHEMA,
  control_cancel_request: CANCEL_SCHEMA,
  control_response: RECEIPT_SCHEMA,
};

/** Parses one line of output as it was read. One that is too long to be kept whole is no event. */
export function parseClaudeBytes(line: Buffer): ClaudeEvent {
  return line.length < MAX_LINE_BYTES ? parseClaudeLine(line.toString('utf8')) : TOO_LONG;
}

const TOO_LONG: ClaudeEvent = { kind: 'garbage', text: `a line of ${MAX_LINE_BYTES / 1024 ** 2} MiB or more` };

/** Parses one line of output. It never throws: a line that is no event becomes `garbage`. */
export const parseClaudeLine = (line: string): ClaudeEvent => parseClaudeEvent(tryParseJson(line), line);

/** Parses the JSON value of a line. */
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
    // Nested lists may be deeper than the stack.
    return undefined;
  }
}
