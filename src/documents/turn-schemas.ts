import { z } from 'zod';
import { EVENT_FIELDS } from './event-schemas.ts';
import { TEXT_LIST, TIME, TIME_OR_NULL, WHOLE_NUMBER } from './shared-schemas.ts';

const BELOW = { below: z.boolean() };

/** Something that a turn said or did. */
export const LOG_ENTRY = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('asked'), text: z.string() }),
  z.object({ kind: z.literal('says'), text: z.string(), ...BELOW }),
  z.object({ kind: z.literal('uses'), id: z.string(), tool: z.string(), detail: z.string(), ...BELOW }),
  z.object({ kind: z.literal('gets'), id: z.string(), is_error: z.boolean(), text: z.string(), ...BELOW }),
  z.object({
    kind: z.literal('retries'),
    attempt: z.number().nullable(),
    limit: z.number().nullable(),
    reason: z.string(),
    delay_ms: z.number().nullable(),
  }),
  z.object({ kind: z.literal('prints'), text: z.string(), is_error: z.boolean() }),
  z.object({ kind: z.literal('left_out'), lines: WHOLE_NUMBER, file: z.string() }),
]);

const { cost_usd, estimated, canned, tokens, duration_ms, failure, denials } = EVENT_FIELDS.turn_ended;
const END = z.object({ cost_usd, estimated, canned, tokens, duration_ms, failure, denials });

/** A turn in a list; one that runs has no cost and no end. */
export const LISTED_TURN = z.object({
  started_seq: z.int(),
  started_at: TIME,
  ended_at: TIME_OR_NULL,
  ...EVENT_FIELDS.turn_started,
  cost_usd: END.shape.cost_usd.exactOptional(),
  estimated: END.shape.estimated.exactOptional(),
  canned: END.shape.canned.exactOptional(),
  tokens: END.shape.tokens.exactOptional(),
  duration_ms: END.shape.duration_ms.exactOptional(),
  failure: END.shape.failure.exactOptional(),
  denials: END.shape.denials.exactOptional(),
});

/** The turns of a run. */
export const TURN_LIST_DOCUMENT = z.object({ total: WHOLE_NUMBER, turns: z.array(LISTED_TURN) });

/** A text of which a part may be left out. */
export const PARTIAL_TEXT = z.object({ text: z.string(), is_cut: z.boolean() });

/** One turn with everything that it said and did. */
export const TURN_DOCUMENT = z.object({
  agent: z.string(),
  turn: WHOLE_NUMBER,
  record: LISTED_TURN.nullable(),
  prompt: PARTIAL_TEXT.nullable(),
  answer: PARTIAL_TEXT,
  stderr: PARTIAL_TEXT,
  entries: z.array(LOG_ENTRY),
  entries_left_out: WHOLE_NUMBER,
  changed_files: TEXT_LIST,
});

/** The files that a turn, a visit or a run has changed, by folder. */
export const DIFF_DOCUMENT = z.object({
  run_id: z.string(),
  turns: TEXT_LIST,
  folders: z.array(
    z.object({
      folder: z.string(),
      files: z.array(
        z.object({
          path: z.string(),
          status: z.string(),
          added: WHOLE_NUMBER.nullable(),
          removed: WHOLE_NUMBER.nullable(),
        }),
      ),
      patch: z.string(),
      is_cut: z.boolean(),
    }),
  ),
});

/** The latest entries of a turn, and how many came before them. */
export const TURN_DELTA = z.object({
  agent: z.string(),
  turn: WHOLE_NUMBER,
  state: z.string(),
  first: WHOLE_NUMBER,
  entries: z.array(LOG_ENTRY),
});

/** The latest entries of several turns: a message `delta`, and the turns that have ended. */
export const TURN_DELTAS_DOCUMENT = z.object({ turns: z.array(TURN_DELTA) });
