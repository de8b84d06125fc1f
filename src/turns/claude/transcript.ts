import type { Assistant, ClaudeEvent, ModelCost, Result } from './event.ts';
import { addUsage, mostUsage, NO_USAGE, type Usage } from './usage.ts';

/**
 * What is remembered of a turn's output, however long it is.
 *
 * 1. At most one text of the answer and two results are kept.
 * 2. A message is counted once, when the next one begins on its thread; at most `MOST_THREADS` are open at once.
 */
export interface Transcript {
  readonly sessionId: string | null;
  readonly model: string | null;
  /** As Claude Code says it: `claude_code_version`. */
  readonly version: string | null;
  /** Whether the conversation was begun or taken up. */
  readonly opened: boolean;
  /** Whether a model has said anything on the main thread. */
  readonly answered: boolean;
  /** The last words on the main thread. */
  readonly lastText: { readonly messageId: string; readonly text: string } | null;
  /** The last result, and the last one that answers our prompt. */
  readonly lastResult: Result | null;
  readonly ownResult: Result | null;
  /** What the results say they have cost together; null as soon as one of them does not say. */
  readonly spentUsd: number | null;
  /** Why Claude Code had to make up an answer. */
  readonly error: string | null;
  /** When a usage limit ends, as the last refusal said it: seconds since 1970. */
  readonly limit: { readonly resetsAt: number | null } | null;
  /** Tokens of the finished messages by model, and the messages that may still grow by thread. */
  readonly usage: Readonly<Record<string, Usage>>;
  readonly open: ReadonlyMap<string, OpenMessage>;
  /** Lines that were no events: where something printed into the stream; and the last of them. */
  readonly garbage: number;
  readonly strays: readonly string[];
}

interface OpenMessage {
  readonly id: string;
  readonly model: string;
  readonly usage: Usage;
  readonly written: number;
}

export const EMPTY_TRANSCRIPT: Transcript = {
  sessionId: null,
  model: null,
  version: null,
  opened: false,
  answered: false,
  lastText: null,
  lastResult: null,
  ownResult: null,
  spentUsd: 0,
  error: null,
  limit: null,
  usage: {},
  open: new Map(),
  garbage: 0,
  strays: [],
};

const MOST_THREADS = 64;
const MOST_MODELS = 64;
/** A little less than English has, for code is denser: an estimate should not be too low. */
const CHARACTERS_PER_TOKEN = 3.5;

/** What is known of a turn after one more event. */
export function hear(so: Transcript, event: ClaudeEvent): Transcript {
  switch (event.kind) {
    case 'init':
      return {
        ...so,
        opened: true,
        sessionId: event.sessionId ?? so.sessionId,
        model: event.model ?? so.model,
        version: event.version ?? so.version,
      };
    case 'assistant':
      return event.synthetic ? { ...so, error: event.error ?? so.error } : hearAnswer(so, event);
    case 'result':
      return hearResult(so, event);
    case 'rate_limit':
      return { ...so, limit: event.status === 'rejected' ? { resetsAt: event.resetsAt } : null };
    case 'garbage':
      return { ...so, garbage: so.garbage + 1, strays: strayed(so.strays, event.text) };
    default:
      return so;
  }
}

const MOST_STRAYS = 3;

const strayed = (before: readonly string[], line: string): readonly string[] =>
  line.trim() === '' ? before : [...before, line].slice(-MOST_STRAYS);

/** Whether the turn has said its last word: what a process does after it is none of our business. */
export const saidAll = (transcript: Transcript): boolean => transcript.ownResult !== null;

/** The tokens of all messages by model, those that were cut short included. */
export function totalUsage({ usage, open }: Transcript): Readonly<Record<string, Usage>> {
  return [...open.values()].reduce(close, usage);
}

function hearAnswer(so: Transcript, event: Assistant): Transcript {
  const next = { ...so, ...count(so, event) };
  if (event.thread !== null) return next;
  // A model that answers after all has got over what went wrong.
  const main = { ...next, opened: true, answered: true, error: event.error };
  if (event.text === null) return main;
  const { messageId, text } = event;
  const before = so.lastText?.messageId === messageId ? so.lastText.text : '';
  return { ...main, lastText: { messageId, text: before + text } };
}

function hearResult(so: Transcript, result: Result): Transcript {
  const { sinceLastUsd } = result;
  return {
    ...so,
    sessionId: result.sessionId ?? so.sessionId,
    lastResult: result,
    ownResult: result.foreign ? so.ownResult : result,
    spentUsd: so.spentUsd === null || sinceLastUsd === null ? null : so.spentUsd + sinceLastUsd,
  };
}

function count({ usage, open }: Transcript, event: Assistant): Pick<Transcript, 'usage' | 'open'> {
  const thread = event.thread ?? '';
  const before = open.get(thread);
  const same = before?.id === event.messageId;
  const message: OpenMessage = {
    id: event.messageId,
    model: event.model,
    usage: mostUsage(event.usage, same ? before.usage : NO_USAGE),
    written: event.written + (same ? before.written : 0),
  };
  const others = new Map(open);
  others.delete(thread);
  const oldest = others.size < MOST_THREADS ? undefined : others.entries().next().value;
  if (oldest !== undefined) others.delete(oldest[0]);
  const done = [...(before === undefined || same ? [] : [before]), ...(oldest === undefined ? [] : [oldest[1]])];
  return { usage: done.reduce(close, usage), open: others.set(thread, message) };
}

/** Adds a finished message. Its events tell the output of its beginning, so what it wrote is measured, too. */
function close(
  usage: Readonly<Record<string, Usage>>,
  { model, usage: used, written }: OpenMessage,
): Record<string, Usage> {
  const known = Object.hasOwn(usage, model) || Object.keys(usage).length < MOST_MODELS;
  const name = known ? model : 'others';
  const output = Math.max(used.output, Math.ceil(written / CHARACTERS_PER_TOKEN));
  const before = Object.hasOwn(usage, name) ? usage[name] : undefined;
  return { ...usage, [name]: addUsage(before ?? NO_USAGE, { ...used, output }) };
}

/** What each model has cost by the last result: where prices can be learned from. */
export const modelCosts = ({ lastResult }: Transcript): readonly ModelCost[] => lastResult?.models ?? [];
