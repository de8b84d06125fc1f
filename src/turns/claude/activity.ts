import { isAbsolute, relative } from 'node:path';
import type { ClaudeActivity, Doing } from '../../core/run/activity.ts';
import { readPrints } from '../../language/tags/prints.ts';
import { firstLine } from '../../language/text/text.ts';
import type { TurnContext } from '../turn-context.ts';
import type { ClaudeEvent, ResultEvent, RetryEvent } from './event.ts';

/** Creates a reader that turns the events of one turn into what Claude Code does. */
export function createActivityReader(): (event: ClaudeEvent) => readonly ClaudeActivity[] {
  let cwd = '';
  let lastMessage = { messageId: '', text: '' };
  return (event) => {
    switch (event.kind) {
      case 'init':
        cwd = event.cwd ?? cwd;
        return [];
      case 'assistant': {
        // A message that Claude Code made up is reported again as the turn's failure.
        if (event.synthetic) return [];
        const { messageId, text } = event;
        const below = event.thread !== null;
        if (!below && text !== null)
          lastMessage = { messageId, text: lastMessage.messageId === messageId ? lastMessage.text + text : text };
        return event.blocks.flatMap((block): readonly ClaudeActivity[] => {
          if (block.kind === 'text') return block.text.trim() === '' ? [] : [{ kind: 'says', text: block.text, below }];
          const { id, tool, input } = block;
          return [{ kind: 'uses', id, tool, detail: describeToolInput(tool, input, cwd), below }];
        });
      }
      case 'tool_results':
        return event.results.map((result) => ({ kind: 'gets', ...result, below: event.thread !== null }));
      case 'result': {
        const text = unsaidText(event, lastMessage.text);
        return text === null ? [] : [{ kind: 'says', text, below: false }];
      }
      case 'retry':
        return [toRetry(event)];
      case 'garbage':
        return event.text.trim() === '' ? [] : [{ kind: 'prints', text: event.text }];
      default:
        return [];
    }
  };
}

/** The text of a result, if the last message does not have it: sometimes the answer is only in the result. */
export const unsaidText = ({ text, isError }: ResultEvent, lastMessage: string): string | null =>
  isError || text === null || text.trim() === '' || lastMessage.endsWith(text) ? null : text;

/** The texts about API failures, by the `error` of Claude Code. */
const API_ERRORS: Readonly<Record<string, string>> = {
  authentication_failed: 'invalid key or login',
  rate_limit: 'rate limit',
  server_error: 'server error',
};

function toRetry({ attempt, limit, delayMs, status, error }: RetryEvent): ClaudeActivity {
  const known = error !== null && Object.hasOwn(API_ERRORS, error) ? API_ERRORS[error] : error?.replaceAll('_', ' ');
  // Without a status there was no answer at all.
  const words = status === null && (error === null || error === 'unknown') ? 'no connection' : known;
  const reason = [status ?? '', words === 'unknown' ? '' : words].join(' ').trim();
  return { kind: 'retries', attempt, limit, delayMs, reason };
}

/**
 * Reports what an agent does, event by event; undefined if nobody watches. `onRetry` gets retries only. A failure here
 * does not fail the turn.
 */
export function createActivityReporter(
  { clock, onActivity, onRetry }: Pick<TurnContext, 'clock' | 'onActivity' | 'onRetry'>,
  agent: string,
): ((event: ClaudeEvent) => void) | undefined {
  const onDoing = onActivity ?? onRetry;
  if (onDoing === undefined) return undefined;
  const read = createActivityReader();
  return (event) => {
    if (onActivity === undefined && event.kind !== 'retry') return;
    try {
      const at = clock.now();
      for (const action of read(event)) {
        const doing = toDoing(action, at);
        if (doing !== null) onDoing({ at, agent, doing });
      }
    } catch {}
  };
}

/** The text of a sub-agent is not shown to the user; its tools count as the agent's own. A `<print>` is shown by itself. */
function toDoing(action: ClaudeActivity, at: number): Doing | null {
  if (action.kind === 'says') {
    const { rest: text } = readPrints(action.text);
    return action.below || text.trim() === '' ? null : { kind: 'says', text };
  }
  if (action.kind === 'uses') return { kind: 'uses', tool: action.tool, detail: action.detail };
  if (action.kind !== 'retries') return null;
  const { delayMs, ...retry } = action;
  return { ...retry, untilMs: delayMs === null ? null : at + delayMs };
}

const DETAIL_FIELDS: Readonly<Record<string, string>> = {
  Agent: 'description',
  Bash: 'command',
  Edit: 'file_path',
  Glob: 'pattern',
  Grep: 'pattern',
  LS: 'path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
  Read: 'file_path',
  Skill: 'skill',
  Task: 'description',
  WebFetch: 'url',
  WebSearch: 'query',
  Write: 'file_path',
};

/** The input field that says most about the use of a tool; undefined for an unknown tool. */
export const detailFieldOf = (tool: string): string | undefined =>
  Object.hasOwn(DETAIL_FIELDS, tool) ? DETAIL_FIELDS[tool] : undefined;

const PATH_FIELDS: ReadonlySet<string> = new Set(['file_path', 'notebook_path', 'path']);

/** Describes the input of a tool in one line. For an unknown tool that is the first text in its input. */
function describeToolInput(tool: string, input: unknown, cwd: string): string {
  if (typeof input !== 'object' || input === null) return '';
  const texts = Object.entries(input).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const [name, text] = texts.find(([key]) => key === detailFieldOf(tool)) ?? texts[0] ?? ['', ''];
  return PATH_FIELDS.has(name) ? relativePath(cwd, text) : firstLine(text);
}

/** A path relative to the folder, if it lies inside. */
function relativePath(cwd: string, path: string): string {
  if (cwd === '' || !isAbsolute(path)) return path;
  const short = relative(cwd, path);
  return short === '' || /^\.\.([/\\]|$)/.test(short) || isAbsolute(short) ? path : short;
}
