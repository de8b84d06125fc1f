/** A request for a message, as Claude Code sends it, as far as a script may want to look at it. */
export interface ApiRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly ApiMessage[];
  readonly system: string;
  readonly tools: readonly string[];
  readonly maxTokens: number;
  /** The last prompt, without the reminders that Claude Code adds. */
  readonly prompt: string;
  /** The number of messages that have already answered that prompt. */
  readonly step: number;
  /** Counted from 1, for the same prompt and step in the same conversation. */
  readonly attempt: number;
}

export interface ApiMessage {
  readonly role: string;
  readonly content: string | readonly Block[];
}

export type Block = { readonly type: string; readonly text?: string; readonly [key: string]: unknown };

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g;

/**
 * Finds the last prompt and how far it has been answered. A prompt is a text block of a user message that is more than
 * a reminder; after a failed turn it shares its message with the one before, or with the results of tools. Messages of
 * the role "system" are Claude Code's own.
 */
export function locate(messages: readonly ApiMessage[]): { readonly prompt: string; readonly step: number } {
  for (const [index, message] of [...messages.entries()].reverse()) {
    const prompt = message.role === 'user' ? textsOf(message).at(-1) : undefined;
    if (prompt === undefined) continue;
    const step = messages.slice(index + 1).filter(({ role }) => role === 'assistant').length;
    return { prompt, step };
  }
  return { prompt: '', step: 0 };
}

/** The latest result of a tool. */
export function lastToolResult(messages: readonly ApiMessage[]): string {
  const blocks = blocksOf(messages.at(-1)).filter(({ type }) => type === 'tool_result');
  return blocks.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n');
}

const textsOf = (message: ApiMessage): readonly string[] =>
  blocksOf(message)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => (text ?? '').replace(REMINDER, '').trim())
    .filter((text) => text !== '');

function blocksOf(message: ApiMessage | undefined): readonly Block[] {
  if (message === undefined) return [];
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}
