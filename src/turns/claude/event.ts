import { z } from 'zod';
import type { RateLimitEvent } from './rate-limit.ts';
import { NO_USAGE, type Usage } from './usage.ts';

/*
 * The events as Claude Code prints them, and their translation. Every field that may be missing or change its type in
 * some version has a default: only an event without its core is not understood.
 */

/** One line of Claude Code's output, without the fields that we do not use. */
export type ClaudeEvent =
  | z.infer<typeof INIT_SCHEMA>
  | AssistantEvent
  | z.infer<typeof USER_SCHEMA>
  | ResultEvent
  | RateLimitEvent
  | z.infer<typeof RETRY_SCHEMA>
  | z.infer<typeof COMPACTED_SCHEMA>
  | z.infer<typeof REQUEST_SCHEMA>
  | z.infer<typeof CANCEL_SCHEMA>
  | z.infer<typeof RECEIPT_SCHEMA>
  /** An event that we do not know or do not need. */
  | { readonly kind: 'other'; readonly type: string }
  /** A line that is no event. */
  | { readonly kind: 'garbage'; readonly text: string };

/** A missing field is the usual case and takes the fast path; `catch` first creates an error for a wrong one. */
const withDefault = <T>(type: z.ZodType<T>, fallback: z.util.NoUndefined<T>) => type.default(fallback).catch(fallback);

const nullableText = withDefault(z.string().nullable(), null);
const nullableNumber = withDefault(z.number().nullable(), null);
const count = withDefault(z.number().nonnegative(), 0);
const textOrEmpty = withDefault(z.string(), '');
const list = withDefault(z.array(z.unknown()), []);

/** `system/init`: the conversation is open. */
export const INIT_SCHEMA = z
  .object({ session_id: nullableText, model: nullableText, claude_code_version: nullableText, cwd: nullableText })
  .transform(({ session_id, model, claude_code_version, cwd }) => ({
    kind: 'init' as const,
    sessionId: session_id,
    model,
    version: claude_code_version,
    cwd,
  }));

const TOKENS = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    cache_creation: withDefault(z.object({ ephemeral_1h_input_tokens: count }), { ephemeral_1h_input_tokens: 0 }),
  })
  .transform((usage): Usage => {
    const long = usage.cache_creation.ephemeral_1h_input_tokens;
    return {
      input: usage.input_tokens,
      output: usage.output_tokens,
      cacheRead: usage.cache_read_input_tokens,
      cacheWrite: Math.max(0, usage.cache_creation_input_tokens - long),
      cacheWriteLong: long,
    };
  });

const USAGE = withDefault(TOKENS, NO_USAGE);

const BLOCK = z.object({
  type: textOrEmpty,
  text: textOrEmpty,
  thinking: textOrEmpty,
  signature: textOrEmpty,
  id: textOrEmpty,
  name: textOrEmpty,
  input: z.unknown().optional(),
});
type RawBlock = z.infer<typeof BLOCK>;

/** `assistant`: a part of a message. Claude Code prints an event for each block of it. */
export const ASSISTANT_SCHEMA = z
  .object({
    message: z.object({ id: textOrEmpty, model: textOrEmpty, content: list, usage: USAGE }),
    parent_tool_use_id: nullableText,
    error: nullableText,
  })
  .transform(({ message, parent_tool_use_id, error }) => {
    const blocks = message.content.flatMap((block) => BLOCK.safeParse(block).data ?? []);
    const texts = blocks.filter(({ type }) => type === 'text').map((block) => block.text);
    return {
      kind: 'assistant' as const,
      messageId: message.id,
      model: message.model,
      /** True if Claude Code made the message up without asking a model. */
      synthetic: message.model === '<synthetic>',
      /** The tool use that a sub-agent belongs to; null on the main thread. */
      thread: parent_tool_use_id,
      text: texts.length === 0 ? null : texts.join(''),
      /** Texts and tool uses in order; other blocks are left out. */
      blocks: blocks.flatMap(toContentBlocks),
      usage: message.usage,
      /** The number of characters written: the reported usage is that of the message's beginning. */
      writtenChars: blocks.reduce((sum, block) => sum + countWrittenChars(block), 0),
      error,
    };
  });

/** A part of a message. */
export type AssistantEvent = z.infer<typeof ASSISTANT_SCHEMA>;

/** A text or a tool use in a message. */
export type ContentBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool_use'; readonly id: string; readonly tool: string; readonly input: unknown };

/** Tools that the API or another server runs have types of their own: `server_tool_use`, `mcp_tool_use`. */
function toContentBlocks({ type, text, id, name, input }: RawBlock): readonly ContentBlock[] {
  if (type === 'text') return [{ kind: 'text', text }];
  return type.endsWith('tool_use') ? [{ kind: 'tool_use', id, tool: name, input }] : [];
}

/** Thinking may be left out or shortened; the length of its signature then shows how long it was. */
function countWrittenChars({ text, thinking, signature, input }: RawBlock): number {
  const inputChars = input === undefined || input === null ? 0 : JSON.stringify(input).length;
  return text.length + Math.max(thinking.length, Math.round(signature.length * 0.75)) + inputChars;
}

/** The result of a tool use. One that was not permitted is an error, too. */
const TOOL_RESULT = z
  .object({
    type: z.literal('tool_result'),
    tool_use_id: textOrEmpty,
    is_error: withDefault(z.boolean(), false),
    content: z.unknown().optional(),
  })
  .transform(({ tool_use_id, is_error, content }) => ({
    id: tool_use_id,
    isError: is_error,
    text: typeof content === 'string' ? content : list.parse(content).map(resultText).join('\n'),
  }));

/** Content that is no text, such as an image, is only named. */
function resultText(part: unknown): string {
  const { type, text } = BLOCK.safeParse(part).data ?? { type: '', text: '' };
  return type === 'text' ? text : `[${type}]`;
}

/** `user`: the results of tools, as they are sent to the model, or the echo of what was sent to Claude Code. */
export const USER_SCHEMA = z
  .object({
    parent_tool_use_id: nullableText,
    message: withDefault(z.object({ content: list }), { content: [] }),
    uuid: nullableText,
    isReplay: withDefault(z.boolean(), false),
  })
  .transform(({ parent_tool_use_id, message, uuid, isReplay }) => ({
    kind: 'tool_results' as const,
    thread: parent_tool_use_id,
    /** The id of the prompt that it repeats because the model gets it now; null if it is none. */
    echoOf: isReplay ? uuid : null,
    results: message.content.flatMap((block) => TOOL_RESULT.safeParse(block).data ?? []),
  }));

const MODEL_USAGE = z
  .object({
    inputTokens: count,
    outputTokens: count,
    cacheReadInputTokens: count,
    cacheCreationInputTokens: count,
    cacheCreationEphemeral1hInputTokens: count,
    costUSD: count,
  })
  .transform((used) => ({
    costUsd: used.costUSD,
    usage: {
      input: used.inputTokens,
      output: used.outputTokens,
      cacheRead: used.cacheReadInputTokens,
      cacheWrite: Math.max(0, used.cacheCreationInputTokens - used.cacheCreationEphemeral1hInputTokens),
      cacheWriteLong: used.cacheCreationEphemeral1hInputTokens,
    },
  }));

const MODELS = withDefault(z.record(z.string(), MODEL_USAGE).nullable(), null);

const DENIAL = z
  .object({ tool_name: z.string(), tool_input: withDefault(z.record(z.string(), z.unknown()), {}) })
  .transform(({ tool_name, tool_input }) => describeToolUse(tool_name, tool_input));

/** The origin of an answer; other origins, and a missing one, prove nothing. */
const CAUSES_BY_ORIGIN: ReadonlyMap<string, 'prompt' | 'other'> = new Map([
  ['human', 'prompt'],
  ['auto-continuation', 'prompt'],
  ['task-notification', 'other'],
  ['channel', 'other'],
  ['peer', 'other'],
  ['coordinator', 'other'],
  ['observer-activity', 'other'],
  ['voice-call', 'other'],
]);

/** `result`: the result of the turn. There may be more than one. */
export const RESULT_SCHEMA = z
  .object({
    subtype: textOrEmpty,
    // Only a plain `false` is a success.
    is_error: withDefault(z.boolean(), true),
    result: nullableText,
    errors: list,
    session_id: nullableText,
    api_error_status: nullableNumber,
    terminal_reason: nullableText,
    stop_reason: nullableText,
    // Any number, also an impossible one: it is refused where the cost is computed, with a warning.
    total_cost_usd: withDefault(
      z.custom<number | null>((value) => value === null || typeof value === 'number'),
      null,
    ),
    modelUsage: MODELS,
    model_usage_since_last_result: MODELS,
    permission_denials: list,
    origin: withDefault(z.object({ kind: z.string() }).nullable(), null),
  })
  .transform((raw) => ({
    kind: 'result' as const,
    subtype: raw.subtype,
    isError: raw.is_error,
    text: raw.result,
    errors: raw.errors.map((error) => (typeof error === 'string' ? error : JSON.stringify(error))),
    sessionId: raw.session_id,
    apiErrorStatus: raw.api_error_status,
    terminalReason: raw.terminal_reason,
    stopReason: raw.stop_reason,
    totalCostUsd: raw.total_cost_usd,
    models: toModelCosts(raw.modelUsage),
    /** The models used since the last result of this process; null in older versions, which do not report them. */
    modelsSinceLast:
      raw.model_usage_since_last_result === null ? null : toModelCosts(raw.model_usage_since_last_result),
    denials: raw.permission_denials.flatMap((denial) => DENIAL.safeParse(denial).data ?? []),
    /** True if it answers our prompt, or something else, such as the end of a background task. */
    cause: CAUSES_BY_ORIGIN.get(raw.origin?.kind ?? '') ?? ('unknown' as const),
  }));

/** The result of the turn. */
export type ResultEvent = z.infer<typeof RESULT_SCHEMA>;

/** The tokens and the cost of one model. */
export type ModelCost = z.infer<typeof MODEL_USAGE> & { readonly model: string };

const toModelCosts = (models: z.infer<typeof MODELS>): readonly ModelCost[] =>
  Object.entries(models ?? {}).map(([model, used]) => ({ model, ...used }));

/** `system/api_retry`: a call of the API that is tried again. */
export const RETRY_SCHEMA = z
  .object({
    attempt: nullableNumber,
    max_retries: nullableNumber,
    retry_delay_ms: nullableNumber,
    error_status: nullableNumber,
    error: nullableText,
  })
  .transform(({ attempt, max_retries, retry_delay_ms, error_status, error }) => {
    return {
      kind: 'retry' as const,
      attempt,
      limit: max_retries,
      delayMs: retry_delay_ms,
      status: error_status,
      error,
    };
  });

/** `system/compact_boundary`: the conversation was summarized. */
export const COMPACTED_SCHEMA = z.object({}).transform(() => ({ kind: 'compacted' as const }));

const SUGGESTION = z.looseObject({
  type: textOrEmpty,
  behavior: textOrEmpty,
  rules: withDefault(z.array(z.object({ toolName: z.string(), ruleContent: nullableText })), []),
  directories: withDefault(z.array(z.string()), []),
});

/** `control_request`: a tool that is not permitted waits for a decision. Other requests are not ours. */
export const REQUEST_SCHEMA = z
  .object({
    request_id: z.string(),
    request: z.object({
      subtype: z.literal('can_use_tool'),
      tool_name: z.string(),
      input: withDefault(z.record(z.string(), z.unknown()), {}),
      tool_use_id: textOrEmpty,
      decision_reason: nullableText,
      permission_suggestions: list,
    }),
  })
  .transform(({ request_id, request }) => ({
    kind: 'permission_request' as const,
    id: request_id,
    tool: request.tool_name,
    input: request.input,
    call: request.tool_use_id,
    reason: request.decision_reason,
    suggestions: request.permission_suggestions.flatMap((each) => SUGGESTION.safeParse(each).data ?? []),
  }));

/** A tool that waits for a decision. */
export type PermissionRequestEvent = z.infer<typeof REQUEST_SCHEMA>;

/** `control_cancel_request`: it does not wait any more. */
export const CANCEL_SCHEMA = z
  .object({ request_id: z.string() })
  .transform(({ request_id: id }) => ({ kind: 'permission_cancelled' as const, id }));

/** `control_response`: the echo of a decision, which is its receipt. */
export const RECEIPT_SCHEMA = z
  .object({ response: z.object({ request_id: z.string() }) })
  .transform(({ response }) => ({ kind: 'permission_receipt' as const, id: response.request_id }));

/** A call of the API that is tried again. */
export type RetryEvent = z.infer<typeof RETRY_SCHEMA>;

const MAX_DENIAL_CHARS = 120;

/** A tool and its input, written like a permission rule: `Bash(npm install)`. */
function describeToolUse(tool: string, input: Readonly<Record<string, unknown>>): string {
  const target = [input.command, input.file_path, input.notebook_path, input.url, input.path].find(
    (value) => typeof value === 'string',
  );
  if (target === undefined) return tool;
  const line = `${target}`.replace(/\s+/g, ' ').trim();
  return `${tool}(${line.length > MAX_DENIAL_CHARS ? `${line.slice(0, MAX_DENIAL_CHARS)}…` : line})`;
}
