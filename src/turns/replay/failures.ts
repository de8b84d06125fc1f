import type { Answer, FailureName } from '../../scenario/scenario.ts';
import { type Line, resultLine, syntheticLine } from './lines.ts';

/** How a turn that is to fail comes to its end: its last lines, and whether we lost patience with it. */
export interface Fall {
  readonly lines: readonly Line[];
  readonly ending: 'itself' | 'timeout';
}

type Faller = (answer: Answer, session: string, nowMs: number) => Fall;

/** The API refused: Claude Code makes up a message and calls it a success and an error. */
const refused =
  (text: string, error: string, more: Line = {}): Faller =>
  (answer, session) => ({
    lines: [
      syntheticLine(text, error, session),
      resultLine({ ...answer, text }, session, { is_error: true, terminal_reason: 'api_error', ...more }),
    ],
    ending: 'itself',
  });

/** Claude Code gave up by itself: such a result has no text. */
const broken =
  (subtype: string, why: (session: string) => string): Faller =>
  (answer, session) => {
    const { result: _, ...line } = resultLine(answer, session, { subtype, is_error: true, errors: [why(session)] });
    return { lines: [{ ...line, terminal_reason: null }], ending: 'itself' };
  };

/** What Claude Code prints when a turn fails in this way; the rest is found out from that, as it is for a real one. */
export const FALLS: Record<FailureName, Faller> = {
  overloaded: refused('API Error: 529 Overloaded', 'overloaded', { api_error_status: 529 }),
  no_result: () => ({ lines: [], ending: 'itself' }),
  timeout: () => ({ lines: [], ending: 'timeout' }),
  usage_limit: (answer, session, nowMs) => {
    const resetsAt = Math.ceil(nowMs / 1000 + answer.resetsInSeconds);
    const info = { status: 'rejected', resetsAt, rateLimitType: 'five_hour' };
    const { lines, ending } = refused("You've hit your session limit", 'rate_limit', { api_error_status: 429 })(
      answer,
      session,
      nowMs,
    );
    return { lines: [{ type: 'rate_limit_event', rate_limit_info: info, session_id: session }, ...lines], ending };
  },
  authentication: refused('Invalid API key', 'authentication_failed', { api_error_status: 401 }),
  billing: refused('Credit balance is too low', 'billing_error', { api_error_status: 400 }),
  model: refused('There is no such model', 'model_not_found', { api_error_status: 404 }),
  invalid_request: refused('API Error: 400 Invalid request', 'invalid_request', { api_error_status: 400 }),
  prompt_too_long: refused('Prompt is too long', 'invalid_request', { terminal_reason: 'prompt_too_long' }),
  refusal: refused('Claude is unable to respond to this request', 'invalid_request', { stop_reason: 'refusal' }),
  max_turns: broken('error_max_turns', () => 'Reached maximum number of turns'),
  budget: broken('error_max_budget_usd', () => 'Reached maximum budget'),
  session_lost: broken('error_during_execution', (session) => `No conversation found with session ID: ${session}`),
};
