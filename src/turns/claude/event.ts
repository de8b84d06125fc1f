import type { Usage } from './usage.ts';

/** One line of Claude Code's output, without the fields that we do not use. */
export type ClaudeEvent =
  | InitEvent
  | AssistantEvent
  | ToolResultsEvent
  | ResultEvent
  | RateLimitEvent
  | RetryEvent
  /** An event that we do not know or do not need. */
  | { readonly kind: 'other'; readonly type: string }
  /** A line that is no event. */
  | { readonly kind: 'garbage'; readonly text: string };

/** The conversation is open. */
export interface InitEvent {
  readonly kind: 'init';
  readonly sessionId: string | null;
  readonly model: string | null;
  readonly version: string | null;
  /** The working directory, as Claude Code reports it. */
  readonly cwd: string | null;
}

/** A part of a message: Claude Code prints an event for each block of it. */
export interface AssistantEvent {
  readonly kind: 'assistant';
  readonly messageId: string;
  readonly model: string;
  /** Whether Claude Code made the message up without asking a model. */
  readonly synthetic: boolean;
  /** The tool use that a sub-agent belongs to; null on the main thread. */
  readonly thread: string | null;
  readonly text: string | null;
  /** Texts and tool uses in order; other blocks are left out. */
  readonly blocks: readonly ContentBlock[];
  readonly usage: Usage;
  /** The number of characters written: the reported usage is that of the message's beginning. */
  readonly writtenChars: number;
  readonly error: string | null;
}

/** A text or a tool use in a message. */
export type ContentBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool_use'; readonly id: string; readonly tool: string; readonly input: unknown };

/** The results of tools, as they are sent to the model. */
export interface ToolResultsEvent {
  readonly kind: 'tool_results';
  readonly thread: string | null;
  readonly results: readonly ToolResult[];
}

/** The result of a tool use. One that was not permitted is an error, too. */
export interface ToolResult {
  readonly id: string;
  readonly isError: boolean;
  readonly text: string;
}

/** The result of the turn. There may be more than one. */
export interface ResultEvent {
  readonly kind: 'result';
  readonly subtype: string;
  readonly isError: boolean;
  readonly text: string | null;
  readonly errors: readonly string[];
  readonly sessionId: string | null;
  readonly apiErrorStatus: number | null;
  readonly terminalReason: string | null;
  readonly stopReason: string | null;
  readonly totalCostUsd: number | null;
  readonly models: readonly ModelCost[];
  /** The cost since the last result of this process; null in older versions, which do not report it. */
  readonly sinceLastUsd: number | null;
  readonly denials: readonly string[];
  /** Whether it answers something else than our prompt, such as the end of a background task. */
  readonly foreign: boolean;
}

/** The tokens and the cost of one model. */
export interface ModelCost {
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd: number;
}

/** A report about a usage limit. */
export interface RateLimitEvent {
  readonly kind: 'rate_limit';
  readonly status: string;
  readonly resetsAt: number | null;
}

/** A call of the API failed and is tried again. */
export interface RetryEvent {
  readonly kind: 'retry';
  readonly attempt: number | null;
  readonly error: string | null;
}
