import type { Block } from './request.ts';

/** The answer of the API to one request. */
export interface Reply {
  readonly blocks: readonly Block[];
  readonly usage?: Tokens;
  readonly stopReason?: string;
  /** The delays before the first piece of text, and between two pieces. */
  readonly delayMs?: number;
  readonly slowMs?: number;
  readonly fail?: Failure;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWriteLong?: number;
}

/** A failure and its parameters. */
export interface Failure {
  readonly kind: FailureName;
  readonly detail?: string;
}

/** Failures that are an answer with an error status. */
export const REFUSALS = {
  400: [400, 'invalid_request_error', 'messages.0: something is wrong'],
  401: [401, 'authentication_error', 'invalid x-api-key'],
  403: [403, 'permission_error', 'Your account does not have access'],
  404: [404, 'not_found_error', 'model: no such model'],
  429: [429, 'rate_limit_error', 'This request would exceed your rate limit'],
  500: [500, 'api_error', 'Internal server error'],
  529: [529, 'overloaded_error', 'Overloaded'],
  limit: [429, 'rate_limit_error', 'Claude AI usage limit reached'],
  billing: [400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'],
  toolong: [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'],
} as const satisfies Record<string, readonly [status: number, type: string, message: string]>;

/** Failures of the stream: see `respond.ts` for what each does. */
export const BREAKDOWNS = [
  'html',
  'drop',
  'dropmid',
  'malformed',
  'garbage',
  'empty',
  'overloaded',
  'hang',
  'hangmid',
] as const;

/** Messages that end in an unusual way. */
export const ODD_ENDS = { refusal: 'refusal', maxtokens: 'max_tokens' } as const;

/** The name of one of them: the numbers, too, are written in a prompt. */
export type Refusal = `${keyof typeof REFUSALS}`;

export const isRefusal = (kind: string | undefined): kind is Refusal =>
  kind !== undefined && Object.hasOwn(REFUSALS, kind);

export type FailureName = Refusal | (typeof BREAKDOWNS)[number] | keyof typeof ODD_ENDS;

export const FAILURE_NAMES: readonly string[] = [...Object.keys(REFUSALS), ...BREAKDOWNS, ...Object.keys(ODD_ENDS)];

export const DEFAULT_TOKENS: Tokens = { input: 1000, output: 100 };
