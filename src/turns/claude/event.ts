import type { Usage } from './usage.ts';

/** One line of Claude Code's output, as far as it matters to us. */
export type ClaudeEvent =
  | InitEvent
  | AssistantEvent
  | ToolResultsEvent
  | ResultEvent
  | RateLimitEvent
  | RetryEvent
  /** Something we do not know, or do not need. */
  | { readonly kind: 'other'; readonly type: string }
  /** Not an event at all. */
  | { readonly kind: 'garbage'; readonly text: string };

/** The conversation is open. */
export interface InitEvent {
  readonly kind: 'init';
  readonly sessionId: string | null;
  readonly model: string | null;
  readonly version: string | null;
  /** The folder it works in, as it sees it itself. */
  readonly cwd: string | null;
}

/** One block of a message: there is an event for each. */
export interface AssistantEvent {
  readonly kind: 'assistant';
  readonly messageId: string;
  readonly model: string;
  /** Claude Code made it up: nobody was asked. */
  readonly synthetic: boolean;
  /** The tool use under which a sub-agent speaks; null on the main thread. */
  readonly thread: string | null;
  readonly text: string | null;
  /** What it says and which tools it uses, in order; other blocks are left out. */
  readonly blocks: readonly ContentBlock[];
  readonly usage: Usage;
  /** How much was written, in characters: the reported usage is that of the message's beginning. */
  readonly writtenChars: number;
  readonly error: string | null;
}

export type ContentBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool_use'; readonly id: string; readonly tool: string; readonly input: unknown };

export interface ToolResultsEvent {
  readonly kind: 'tool_results';
  readonly thread: string | null;
  readonly results: readonly ToolResult[];
}

/** What came of a tool use. One that was not permitted is an error, too. */
export interface ToolResult {
  readonly id: string;
  readonly isError: boolean;
  readonly text: string;
}

/** The last word, though there may be more than one. */
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
  /** What was spent since the last result of this process; older versions do not say. */
  readonly sinceLastUsd: number | null;
  readonly denials: readonly string[];
  /** It answers something else than our prompt, such as the end of a background task. */
  readonly foreign: boolean;
}

export interface ModelCost {
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd: number;
}

export interface RateLimitEvent {
  readonly kind: 'rate_limit';
  readonly status: string;
  readonly resetsAt: number | null;
}

/** A call failed and is tried again: it is alive. */
export interface RetryEvent {
  readonly kind: 'retry';
  readonly attempt: number | null;
  readonly error: string | null;
}
