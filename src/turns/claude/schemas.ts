import { z } from 'zod';
import type { Assistant, Block, Init, ModelCost, RateLimit, Result, Retry, ToolResult, ToolResults } from './event.ts';
import { NO_USAGE, type Usage } from './usage.ts';

/*
 * The events as they come, and what becomes of them. Every field that may be missing or change its type in some version
 * has a stand-in: only an event without its core is not understood.
 */

/** What is missing is the usual case and goes the short way; `catch` first makes an error of what is wrong. */
const or = <T>(type: z.ZodType<T>, standIn: z.util.NoUndefined<T>) => type.default(standIn).catch(standIn);

const text = or(z.string().nullable(), null);
const number = or(z.number().nullable(), null);
const count = or(z.number().nonnegative(), 0);
const word = or(z.string(), '');
const list = or(z.array(z.unknown()), []);

export const INIT = z.object({ session_id: text, model: text, claude_code_version: text, cwd: text }).transform(
  ({ session_id, model, claude_code_version, cwd }): Init => ({
    kind: 'init',
    sessionId: session_id,
    model,
    version: claude_code_version,
    cwd,
  }),
);

const TOKENS = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    cache_creation: or(z.object({ ephemeral_1h_input_tokens: count }), { ephemeral_1h_input_tokens: 0 }),
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

const USAGE = or(TOKENS, NO_USAGE);

const BLOCK = z.object({
  type: word,
  text: word,
  thinking: word,
  signature: word,
  id: word,
  name: word,
  input: z.unknown().optional(),
});
type RawBlock = z.infer<typeof BLOCK>;

export const ASSISTANT = z
  .object({
    message: z.object({ id: word, model: word, content: list, usage: USAGE }),
    parent_tool_use_id: text,
    error: text,
  })
  .transform(({ message, parent_tool_use_id, error }): Assistant => {
    const blocks = message.content.flatMap((block) => BLOCK.safeParse(block).data ?? []);
    const texts = blocks.filter(({ type }) => type === 'text').map((block) => block.text);
    return {
      kind: 'assistant',
      messageId: message.id,
      model: message.model,
      synthetic: message.model === '<synthetic>',
      thread: parent_tool_use_id,
      text: texts.length === 0 ? null : texts.join(''),
      blocks: blocks.flatMap(blockOf),
      usage: message.usage,
      written: blocks.reduce((sum, block) => sum + writtenIn(block), 0),
      error,
    };
  });

/** Tools that the API itself or a server elsewhere runs have types of their own: `server_tool_use`, `mcp_tool_use`. */
function blockOf({ type, text, id, name, input }: RawBlock): readonly Block[] {
  if (type === 'text') return [{ kind: 'text', text }];
  return type.endsWith('tool_use') ? [{ kind: 'tool_use', id, tool: name, input }] : [];
}

/** Thinking may be left out or shortened; its signature then tells how long it was. */
function writtenIn({ text, thinking, signature, input }: RawBlock): number {
  const called = input === undefined || input === null ? 0 : JSON.stringify(input).length;
  return text.length + Math.max(thinking.length, Math.round(signature.length * 0.75)) + called;
}

const TOOL_RESULT = z
  .object({
    type: z.literal('tool_result'),
    tool_use_id: word,
    is_error: or(z.boolean(), false),
    content: z.unknown().optional(),
  })
  .transform(
    ({ tool_use_id, is_error, content }): ToolResult => ({
      id: tool_use_id,
      isError: is_error,
      text: typeof content === 'string' ? content : list.parse(content).map(resultText).join('\n'),
    }),
  );

/** What is no text, such as an image, is only named. */
function resultText(part: unknown): string {
  const { type, text } = BLOCK.safeParse(part).data ?? { type: '', text: '' };
  return type === 'text' ? text : `[${type}]`;
}

export const USER = z
  .object({ parent_tool_use_id: text, message: or(z.object({ content: list }), { content: [] }) })
  .transform(
    ({ parent_tool_use_id, message }): ToolResults => ({
      kind: 'tool_results',
      thread: parent_tool_use_id,
      results: message.content.flatMap((block) => TOOL_RESULT.safeParse(block).data ?? []),
    }),
  );

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

const MODELS = or(z.record(z.string(), MODEL_USAGE).nullable(), null);

const DENIAL = z
  .object({ tool_name: z.string(), tool_input: or(z.record(z.string(), z.unknown()), {}) })
  .transform(({ tool_name, tool_input }) => describeUse(tool_name, tool_input));

/** What wakes Claude Code besides our prompt. */
const FOREIGN: ReadonlySet<string> = new Set(['task-notification', 'channel', 'peer', 'coordinator']);

export const RESULT = z
  .object({
    subtype: word,
    // Only a plain `false` is a success.
    is_error: or(z.boolean(), true),
    result: text,
    errors: list,
    session_id: text,
    api_error_status: number,
    terminal_reason: text,
    stop_reason: text,
    total_cost_usd: or(z.number().nonnegative().nullable(), null),
    modelUsage: MODELS,
    model_usage_since_last_result: MODELS,
    permission_denials: list,
    origin: or(z.object({ kind: z.string() }).nullable(), null),
  })
  .transform(
    (said): Result => ({
      kind: 'result',
      subtype: said.subtype,
      isError: said.is_error,
      text: said.result,
      errors: said.errors.map((error) => (typeof error === 'string' ? error : JSON.stringify(error))),
      sessionId: said.session_id,
      apiErrorStatus: said.api_error_status,
      terminalReason: said.terminal_reason,
      stopReason: said.stop_reason,
      totalCostUsd: said.total_cost_usd,
      models: modelCosts(said.modelUsage),
      sinceLastUsd:
        said.model_usage_since_last_result === null
          ? null
          : modelCosts(said.model_usage_since_last_result).reduce((sum, { costUsd }) => sum + costUsd, 0),
      denials: said.permission_denials.flatMap((denial) => DENIAL.safeParse(denial).data ?? []),
      foreign: said.origin !== null && FOREIGN.has(said.origin.kind),
    }),
  );

const modelCosts = (models: z.infer<typeof MODELS>): readonly ModelCost[] =>
  Object.entries(models ?? {}).map(([model, used]) => ({ model, ...used }));

export const RATE_LIMIT = z.object({ rate_limit_info: z.object({ status: z.string(), resetsAt: number }) }).transform(
  ({ rate_limit_info }): RateLimit => ({
    kind: 'rate_limit',
    status: rate_limit_info.status,
    resetsAt: rate_limit_info.resetsAt,
  }),
);

export const RETRY = z
  .object({ attempt: number, error: text })
  .transform(({ attempt, error }): Retry => ({ kind: 'retry', attempt, error }));

const LONGEST_DENIAL = 120;

/** A tool and what it was to be used on, as a permission rule would say it: `Bash(npm install)`. */
function describeUse(tool: string, input: Readonly<Record<string, unknown>>): string {
  const what = [input.command, input.file_path, input.notebook_path, input.url, input.path].find(
    (value) => typeof value === 'string',
  );
  if (what === undefined) return tool;
  const said = `${what}`.replace(/\s+/g, ' ').trim();
  return `${tool}(${said.length > LONGEST_DENIAL ? `${said.slice(0, LONGEST_DENIAL)}…` : said})`;
}
