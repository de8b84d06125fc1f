import type { CannedAnswer, CannedFailureName } from '../../scenario/scenario.ts';
import { resultLine, type StreamLine, syntheticLine } from './output.ts';

/** The end of a turn that is to fail: its last lines, and whether it times out. */
export interface FailureFixture {
  readonly lines: readonly StreamLine[];
  readonly endCause: 'exited' | 'timeout';
}

type BuildFixture = (answer: CannedAnswer, session: string, nowMs: number) => FailureFixture;

/** The API refused: Claude Code makes up a message, and its result is both a success and an error. */
const apiFailure =
  (text: string, error: string, overrides: StreamLine = {}): BuildFixture =>
  (answer, session) => ({
    lines: [
      syntheticLine(text, error, session),
      resultLine({ ...answer, text }, session, { is_error: true, terminal_reason: 'api_error', ...overrides }),
    ],
    endCause: 'exited',
  });

/** Claude Code gave up by itself: such a result has no text. */
const abortedTurn =
  (subtype: string, describe: (session: string) => string): BuildFixture =>
  (answer, session) => {
    const { result: _, ...line } = resultLine(answer, session, {
      subtype,
      is_error: true,
      errors: [describe(session)],
    });
    return { lines: [{ ...line, terminal_reason: null }], endCause: 'exited' };
  };

/** The output of Claude Code for each kind of failure; it is judged like the output of a real turn. */
export const FAILURE_FIXTURES: Record<CannedFailureName, BuildFixture> = {
  overloaded: apiFailure('API Error: 529 Overloaded', 'overloaded', { api_error_status: 529 }),
  no_result: () => ({ lines: [], endCause: 'exited' }),
  timeout: () => ({ lines: [], endCause: 'timeout' }),
  usage_limit: (answer, session, nowMs) => {
    const resetsAt = Math.ceil(nowMs / 1000 + answer.resetsInSeconds);
    const info = { status: 'rejected', resetsAt, rateLimitType: 'five_hour' };
    const { lines, endCause } = apiFailure("You've hit your session limit", 'rate_limit', { api_error_status: 429 })(
      answer,
      session,
      nowMs,
    );
    return { lines: [{ type: 'rate_limit_event', rate_limit_info: info, session_id: session }, ...lines], endCause };
  },
  authentication: apiFailure('Invalid API key', 'authentication_failed', { api_error_status: 401 }),
  billing: apiFailure('Credit balance is too low', 'billing_error', { api_error_status: 400 }),
  model: apiFailure('There is no such model', 'model_not_found', { api_error_status: 404 }),
  invalid_request: apiFailure('API Error: 400 Invalid request', 'invalid_request', { api_error_status: 400 }),
  prompt_too_long: apiFailure('Prompt is too long', 'invalid_request', { terminal_reason: 'prompt_too_long' }),
  refusal: apiFailure('Claude is unable to respond to this request', 'invalid_request', { stop_reason: 'refusal' }),
  max_turns: abortedTurn('error_max_turns', () => 'Reached maximum number of turns'),
  budget: abortedTurn('error_max_budget_usd', () => 'Reached maximum budget'),
  session_lost: abortedTurn('error_during_execution', (session) => `No conversation found with session ID: ${session}`),
};
