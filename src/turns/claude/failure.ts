import type { FailureKind } from '../../language/failure.ts';
import type { ResultEvent, RetryEvent } from './event.ts';
import type { Transcript } from './transcript.ts';
import { isUsageLimitText } from './usage-limit.ts';

/** A failure by its kind, with Claude Code's message. */
export interface ClassifiedFailure {
  readonly kind: FailureKind;
  readonly detail: string;
}

const SESSION_NOT_FOUND = /No conversation found/i;

/** The kinds of failure by the fields of a result; earlier tables go before later ones. */
const BY_SUBTYPE: Readonly<Record<string, FailureKind>> = {
  error_max_budget_usd: 'budget',
  error_max_turns: 'max_turns',
};

const BY_TERMINAL_REASON: Readonly<Record<string, FailureKind>> = {
  budget_exhausted: 'budget',
  max_turns: 'max_turns',
  prompt_too_long: 'prompt_too_long',
  blocking_limit: 'prompt_too_long',
  rapid_refill_breaker: 'prompt_too_long',
  image_error: 'invalid_request',
};

/** By the `error` of the message that Claude Code made up; other values say nothing certain. */
const BY_ERROR: Readonly<Record<string, FailureKind>> = {
  rate_limit: 'usage_limit',
  authentication_failed: 'authentication',
  oauth_org_not_allowed: 'authentication',
  account_on_hold: 'authentication',
  verification_required: 'authentication',
  cloud_credential_error: 'authentication',
  billing_error: 'billing',
  model_not_found: 'model',
  invalid_request: 'invalid_request',
  server_error: 'transient',
  overloaded: 'transient',
};

const BY_STATUS: Readonly<Record<number, FailureKind>> = {
  400: 'invalid_request',
  401: 'authentication',
  402: 'billing',
  403: 'authentication',
  404: 'model',
  413: 'prompt_too_long',
  422: 'invalid_request',
  429: 'usage_limit',
};

/** Classifies a result that is an error. A failure that is not known is taken for a transient one. */
export function classifyResultFailure(result: ResultEvent, { error, lastText }: Transcript): ClassifiedFailure {
  const detail = result.text || result.errors.join('; ') || lastText?.text || '';
  return {
    kind: failureKindOf(result, error, detail),
    detail: detail || `it ended with ${result.subtype || 'an error'}`,
  };
}

/**
 * True if a result that calls itself a success is in truth Claude Code's own message about a failure. The events before it
 * tell: the last message was made up because of an error, or no model has said what is said about a usage limit.
 */
export function isFailureInDisguise({ text }: ResultEvent, { error, lastText }: Transcript): boolean {
  if (lookUp(BY_ERROR, error) !== undefined) return true;
  const said = lastText?.text.trim() ?? '';
  const isSaid = said !== '' && (said.includes(text?.trim() ?? '') || (text ?? '').includes(said));
  return text !== null && isUsageLimitText(text) && !isSaid;
}

function failureKindOf(result: ResultEvent, error: string | null, detail: string): FailureKind {
  const { subtype, terminalReason, stopReason, apiErrorStatus, errors } = result;
  if (errors.some((each) => SESSION_NOT_FOUND.test(each))) return 'session_lost';
  return (
    lookUp(BY_SUBTYPE, subtype) ??
    lookUp(BY_TERMINAL_REASON, terminalReason) ??
    (stopReason === 'refusal' ? 'refusal' : undefined) ??
    (/^prompt is too long/i.test(detail) ? 'prompt_too_long' : undefined) ??
    lookUp(BY_ERROR, error) ??
    lookUp(BY_STATUS, apiErrorStatus) ??
    (isUsageLimitText(detail) ? 'usage_limit' : 'transient')
  );
}

/** The requests after which a key or a login is taken for invalid: the second may come with a renewed one. */
const MAX_LOGIN_TRIES = 2;

/** True if Claude Code keeps trying with credentials that the API has refused before. */
export const isHopelessRetry = ({ attempt, status, error }: RetryEvent): boolean =>
  (attempt ?? 0) >= MAX_LOGIN_TRIES && (lookUp(BY_ERROR, error) ?? lookUp(BY_STATUS, status)) === 'authentication';

/** Failures before the conversation begins, which are reported on stderr only. */
const STARTUP_FAILURES: readonly { readonly pattern: RegExp; readonly kind: FailureKind; readonly note?: string }[] = [
  { pattern: SESSION_NOT_FOUND, kind: 'session_lost' },
  { pattern: /already in use/i, kind: 'transient', note: 'The next try opens a conversation of its own.' },
  { pattern: /^error: (?:unknown option|unknown command|option |too many arguments)/im, kind: 'invalid_request' },
  {
    pattern: /cannot be used with root|Invalid session ID|can only be used with|only whitespace/i,
    kind: 'invalid_request',
  },
];

/** Exit codes of a shell that could not run the program. */
const NOT_RUNNABLE_CODES: ReadonlySet<number> = new Set([126, 127]);

/** Classifies a failure to start by its stderr; null if that says nothing. */
export function classifyStderrFailure(stderr: string, exitCode: number | null): ClassifiedFailure | null {
  const detail = stderr.trim();
  if (exitCode !== null && NOT_RUNNABLE_CODES.has(exitCode))
    return { kind: 'invalid_request', detail: detail || 'it cannot be run' };
  const match = STARTUP_FAILURES.find(({ pattern }) => pattern.test(detail));
  return match === undefined ? null : { kind: match.kind, detail: [detail, match.note ?? ''].join(' ').trim() };
}

function lookUp<K extends PropertyKey, V>(table: Readonly<Record<K, V>>, key: K | null): V | undefined {
  return key !== null && Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The messages of failed Claude turns, with what the user can do. */
const FAILURE_MESSAGES: Record<FailureKind, (detail: string) => string> = {
  transient: (detail) => `Claude Code could not finish the turn: ${detail}`,
  timeout: (detail) => `Claude Code was ended: ${detail} A longer \`timeout\` gives it more time.`,
  usage_limit: (detail) => `Claude's usage limit is reached: ${detail}`,
  authentication: (detail) =>
    `Claude Code could not log in: ${detail} Log in with \`claude /login\`, or set a valid ANTHROPIC_API_KEY, then resume the run.`,
  billing: (detail) => `Claude's account cannot pay: ${detail} Add credit or fix the billing, then resume the run.`,
  model: (detail) => `The model cannot be used: ${detail} Choose another \`model\`, then resume the run.`,
  invalid_request: (detail) =>
    `Claude Code or its API refused the request: ${detail} Correct the state's settings or the prompt, then resume the run.`,
  prompt_too_long: (detail) =>
    `The conversation does not fit into the model's context: ${detail} Shorten the prompt, or reach the state by <reset> or <function>, then resume the run.`,
  refusal: (detail) => `Claude declined to answer: ${detail} Rephrase the prompt or choose another \`model\`.`,
  max_turns: (detail) => `Claude Code reached its limit of steps: ${detail} Give the state a smaller task.`,
  budget: (detail) => `The turn used up the budget of the run: ${detail} Resume it with a higher \`--budget\`.`,
  session_lost: (detail) => `The conversation to be resumed is gone: ${detail}`,
  disk: () =>
    'The disk was full, so that part of what Claude Code said is lost; its cost is an estimate. Free some space, then resume the run.',
  script: (detail) => detail,
  no_answer: (detail) => detail,
  interrupted: (detail) => detail,
  lost: () => 'Claude Code was no longer running when the run was taken up again.',
  stopped: () => 'The turn was ended because the run was stopped.',
  parked: () => 'The turn was ended while a tool waited for the word of a person.',
  broken_off: () => 'The turn was interrupted by a person.',
};

const MAX_DETAIL_CHARS = 400;

/** Explains a failure to the user: what happened, in Claude Code's words, and what to do. */
export const explainFailure = (kind: FailureKind, detail: string): string => FAILURE_MESSAGES[kind](toSentence(detail));

/** One line of limited length that ends like a sentence. */
function toSentence(detail: string): string {
  const line = detail.replace(/\s+/g, ' ').trim();
  const short = line.length > MAX_DETAIL_CHARS ? `${line.slice(0, MAX_DETAIL_CHARS)}…` : line;
  return short === '' || /[.!?…]$/.test(short) ? short : `${short}.`;
}
