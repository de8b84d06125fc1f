import type { AssistantEvent, ClaudeEvent, ModelCost, ResultEvent } from './event.ts';
import { addUsage, maxUsage, NO_USAGE, type Usage } from './usage.ts';

/**
 * A summary of a turn's output, of limited size however long the output is.
 *
 * 1. At most one text of the answer and two results are kept.
 * 2. A message is counted once, when the next one begins on its thread; at most `MAX_THREADS` are open at once.
 */
export interface Transcript {
  readonly sessionId: string | null;
  readonly model: string | null;
  /** The `claude_code_version` of the first event. */
  readonly version: string | null;
  /** True if the conversation was begun or resumed. */
  readonly opened: boolean;
  /** True if the conversation was summarized. */
  readonly compacted: boolean;
  /** True if a model has answered on the main thread. */
  readonly answered: boolean;
  /** The last text on the main thread. */
  readonly lastText: { readonly messageId: string; readonly text: string } | null;
  /** The id of the last message on the main thread, in the output and in the file of the conversation. */
  readonly lastUuid: string | null;
  /** The last result, and the last one that answers our prompt. */
  readonly lastResult: ResultEvent | null;
  readonly ownResult: ResultEvent | null;
  /** The facts when the latter arrived: later actions of Claude Code do not change them. */
  readonly atOwnResult: Pick<Transcript, 'answered' | 'lastText' | 'error' | 'limit'> | null;
  /** True if Claude Code has begun another round by itself, after a success. We send one prompt to each process. */
  readonly laterRound: boolean;
  /** The models that the results report to have used, together; null as soon as one of them reports none. */
  readonly spent: readonly ModelCost[] | null;
  /** The error for which Claude Code made up an answer. */
  readonly error: string | null;
  /** The end of a usage limit according to the last refusal, in seconds since 1970. */
  readonly limit: { readonly resetsAt: number | null } | null;
  /** Tokens of the finished messages by model, and the messages that may still grow by thread. */
  readonly usage: Readonly<Record<string, Usage>>;
  readonly open: ReadonlyMap<string, OpenMessage>;
  /** The number of lines that were no events, and the last of them. */
  readonly garbage: number;
  readonly strayLines: readonly string[];
}

interface OpenMessage {
  readonly id: string;
  readonly model: string;
  readonly usage: Usage;
  readonly writtenChars: number;
}

/** The summary before the first event. */
export const EMPTY_TRANSCRIPT: Transcript = {
  sessionId: null,
  model: null,
  version: null,
  opened: false,
  compacted: false,
  answered: false,
  lastText: null,
  lastUuid: null,
  lastResult: null,
  ownResult: null,
  atOwnResult: null,
  laterRound: false,
  spent: [],
  error: null,
  limit: null,
  usage: {},
  open: new Map(),
  garbage: 0,
  strayLines: [],
};

const MAX_THREADS = 64;
const MAX_MODELS = 64;
/** A little less than English has, because code is denser: an estimate should not be too low. */
const CHARACTERS_PER_TOKEN = 3.5;

/** Adds an event to the summary of a turn. */
export function addClaudeEvent(transcript: Transcript, event: ClaudeEvent): Transcript {
  switch (event.kind) {
    case 'init':
      return {
        ...transcript,
        opened: true,
        laterRound: transcript.laterRound || transcript.ownResult?.isError === false,
        sessionId: event.sessionId ?? transcript.sessionId,
        model: event.model ?? transcript.model,
        version: event.version ?? transcript.version,
      };
    case 'assistant':
      return event.synthetic ? { ...transcript, error: event.error ?? transcript.error } : addAnswer(transcript, event);
    case 'tool_results':
      return event.thread === null ? { ...transcript, lastUuid: event.uuid ?? transcript.lastUuid } : transcript;
    case 'compacted':
      return { ...transcript, compacted: true, lastUuid: event.uuid ?? transcript.lastUuid };
    case 'result':
      return addResult(transcript, event);
    case 'rate_limit':
      return { ...transcript, limit: event.status === 'rejected' ? { resetsAt: event.resetsAt } : null };
    case 'garbage':
      return {
        ...transcript,
        garbage: transcript.garbage + 1,
        strayLines: addStrayLine(transcript.strayLines, event.text),
      };
    default:
      return transcript;
  }
}

const MAX_STRAY_LINES = 3;

const addStrayLine = (before: readonly string[], line: string): readonly string[] =>
  line.trim() === '' ? before : [...before, line].slice(-MAX_STRAY_LINES);

/** The summary after Claude Code has begun to answer something more of the same turn: the result so far is none of it. */
export const reopenTranscript = (transcript: Transcript): Transcript =>
  transcript.ownResult === null
    ? transcript
    : {
        ...transcript,
        ownResult: null,
        atOwnResult: null,
        laterRound: false,
        lastText: null,
        error: null,
        limit: null,
      };

/** True if the turn has its result: what the process does afterwards does not matter. */
export const isTurnDone = (transcript: Transcript): boolean => transcript.ownResult !== null;

/** The tokens of all messages by model, including those that were cut short. */
export function totalUsage({ usage, open }: Transcript): Readonly<Record<string, Usage>> {
  return [...open.values()].reduce(addMessageUsage, usage);
}

function addAnswer(transcript: Transcript, event: AssistantEvent): Transcript {
  const next = { ...transcript, ...countUsage(transcript, event) };
  if (event.thread !== null) return next;
  // An answer of a model means that an earlier error has passed.
  const lastUuid = event.uuid ?? transcript.lastUuid;
  const main = { ...next, opened: true, answered: true, lastUuid, error: event.error };
  if (event.text === null) return main;
  const { messageId, text } = event;
  const before = transcript.lastText?.messageId === messageId ? transcript.lastText.text : '';
  return { ...main, lastText: { messageId, text: before + text } };
}

function addResult(transcript: Transcript, result: ResultEvent): Transcript {
  const { modelsSinceLast } = result;
  const { spent, answered, lastText, error, limit } = transcript;
  const isOwn = result.cause === 'prompt' || (result.cause === 'unknown' && !transcript.laterRound);
  return {
    ...transcript,
    sessionId: result.sessionId ?? transcript.sessionId,
    lastResult: result,
    ...(isOwn && { ownResult: result, atOwnResult: { answered, lastText, error, limit } }),
    spent: spent === null || modelsSinceLast === null ? null : addModelCosts(spent, modelsSinceLast),
  };
}

function addModelCosts(before: readonly ModelCost[], more: readonly ModelCost[]): readonly ModelCost[] {
  const byModel = new Map(before.map((each) => [each.model, each]));
  for (const { model, usage, costUsd } of more) {
    const known = byModel.get(model);
    byModel.set(model, {
      model,
      usage: addUsage(known?.usage ?? NO_USAGE, usage),
      costUsd: (known?.costUsd ?? 0) + costUsd,
    });
  }
  return [...byModel.values()];
}

function countUsage({ usage, open }: Transcript, event: AssistantEvent): Pick<Transcript, 'usage' | 'open'> {
  const thread = event.thread ?? '';
  const before = open.get(thread);
  const same = before?.id === event.messageId;
  const message: OpenMessage = {
    id: event.messageId,
    model: event.model,
    usage: maxUsage(event.usage, same ? before.usage : NO_USAGE),
    writtenChars: event.writtenChars + (same ? before.writtenChars : 0),
  };
  const others = new Map(open);
  others.delete(thread);
  const oldest = others.size < MAX_THREADS ? undefined : others.entries().next().value;
  if (oldest !== undefined) others.delete(oldest[0]);
  const done = [...(before === undefined || same ? [] : [before]), ...(oldest === undefined ? [] : [oldest[1]])];
  return { usage: done.reduce(addMessageUsage, usage), open: others.set(thread, message) };
}

/** Adds a finished message. Its events report only the output of its beginning, so its text is measured, too. */
function addMessageUsage(
  usage: Readonly<Record<string, Usage>>,
  { model, usage: used, writtenChars }: OpenMessage,
): Record<string, Usage> {
  const known = Object.hasOwn(usage, model) || Object.keys(usage).length < MAX_MODELS;
  const name = known ? model : 'others';
  const output = Math.max(used.output, Math.ceil(writtenChars / CHARACTERS_PER_TOKEN));
  const before = Object.hasOwn(usage, name) ? usage[name] : undefined;
  return { ...usage, [name]: addUsage(before ?? NO_USAGE, { ...used, output }) };
}

/** The cost of each model according to the last result. */
export const modelCosts = ({ lastResult }: Transcript): readonly ModelCost[] => lastResult?.models ?? [];
