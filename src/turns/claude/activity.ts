import { isAbsolute, relative } from 'node:path';
import type { ClaudeActivity, Doing } from '../../core/activity.ts';
import { firstLine } from '../../core/text.ts';
import type { TurnContext } from '../turn-context.ts';
import type { ClaudeEvent } from './event.ts';

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
        // Sometimes the answer is only in the result.
        const { text, isError } = event;
        const isNew = !isError && text !== null && text.trim() !== '' && !lastMessage.text.endsWith(text);
        return isNew ? [{ kind: 'says', text, below: false }] : [];
      }
      case 'retry':
        return [{ kind: 'retries', attempt: event.attempt, error: event.error }];
      case 'garbage':
        return event.text.trim() === '' ? [] : [{ kind: 'prints', text: event.text }];
      default:
        return [];
    }
  };
}

/** Reports what an agent does, event by event; undefined if nobody watches. A failure here does not fail the turn. */
export function createActivityReporter(
  { clock, onActivity }: TurnContext,
  agent: string,
): ((event: ClaudeEvent) => void) | undefined {
  if (onActivity === undefined) return undefined;
  const read = createActivityReader();
  return (event) => {
    try {
      for (const action of read(event)) {
        const doing = toDoing(action);
        if (doing !== null) onActivity({ at: clock.now(), agent, doing });
      }
    } catch {}
  };
}

/** The text of a sub-agent is not shown to the user; its tools count as the agent's own. */
function toDoing(action: ClaudeActivity): Doing | null {
  if (action.kind === 'says') return action.below ? null : { kind: 'says', text: action.text };
  if (action.kind === 'uses') return { kind: 'uses', tool: action.tool, detail: action.detail };
  return null;
}

/** The input field that says most about the use of a tool. */
const DETAIL_FIELDS: Readonly<Record<string, string>> = {
  Agent: 'description',
  Bash: 'command',
  Edit: 'file_path',
  Glob: 'pattern',
  Grep: 'pattern',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
  Read: 'file_path',
  Skill: 'skill',
  Task: 'description',
  WebFetch: 'url',
  WebSearch: 'query',
  Write: 'file_path',
};

const PATH_FIELDS: ReadonlySet<string> = new Set(['file_path', 'notebook_path', 'path']);

/** Describes the input of a tool in one line. For an unknown tool that is the first text in its input. */
function describeToolInput(tool: string, input: unknown, cwd: string): string {
  if (typeof input !== 'object' || input === null) return '';
  const texts = Object.entries(input).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const detailField = Object.hasOwn(DETAIL_FIELDS, tool) ? DETAIL_FIELDS[tool] : undefined;
  const [name, text] = texts.find(([key]) => key === detailField) ?? texts[0] ?? ['', ''];
  return PATH_FIELDS.has(name) ? relativePath(cwd, text) : firstLine(text);
}

/** A path relative to the folder, if it lies inside. */
function relativePath(cwd: string, path: string): string {
  if (cwd === '' || !isAbsolute(path)) return path;
  const short = relative(cwd, path);
  return short === '' || /^\.\.([/\\]|$)/.test(short) || isAbsolute(short) ? path : short;
}
