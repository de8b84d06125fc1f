import { isAbsolute, relative } from 'node:path';
import type { Deed, Doing } from '../../core/activity.ts';
import type { Desk } from '../desk.ts';
import type { ClaudeEvent } from './event.ts';

/** Reads off the events of one turn, one after the other, what Claude Code does. */
export function newReader(): (event: ClaudeEvent) => readonly Deed[] {
  let cwd = '';
  let said = { messageId: '', text: '' };
  return (event) => {
    switch (event.kind) {
      case 'init':
        cwd = event.cwd ?? cwd;
        return [];
      case 'assistant': {
        // What Claude Code made up is told again as the turn's failure.
        if (event.synthetic) return [];
        const { messageId, text } = event;
        const below = event.thread !== null;
        if (!below && text !== null) said = { messageId, text: said.messageId === messageId ? said.text + text : text };
        return event.blocks.flatMap((block): readonly Deed[] => {
          if (block.kind === 'text') return block.text.trim() === '' ? [] : [{ kind: 'says', text: block.text, below }];
          const { id, tool, input } = block;
          return [{ kind: 'uses', id, tool, detail: detailOf(tool, input, cwd), below }];
        });
      }
      case 'tool_results':
        return event.results.map((result) => ({ kind: 'gets', ...result, below: event.thread !== null }));
      case 'result': {
        // Now and then the answer is in the result and nowhere else.
        const { text, isError } = event;
        const isNew = !isError && text !== null && text.trim() !== '' && !said.text.endsWith(text);
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

/** Tells whoever watches what an agent does, event by event; undefined if nobody does. That it fails is no turn's trouble. */
export function tellDoings(notice: Desk['notice'], agent: string): ((event: ClaudeEvent) => void) | undefined {
  if (notice === undefined) return undefined;
  const read = newReader();
  return (event) => {
    try {
      for (const deed of read(event)) {
        const doing = doingOf(deed);
        if (doing !== null) notice({ at: Date.now(), agent, doing });
      }
    } catch {}
  };
}

/** The words of a sub-agent are not for the user; its tools are the agent's work. */
function doingOf(deed: Deed): Doing | null {
  if (deed.kind === 'says') return deed.below ? null : { kind: 'says', text: deed.text };
  if (deed.kind === 'uses') return { kind: 'uses', tool: deed.tool, detail: deed.detail };
  return null;
}

/** What tells most about the use of a tool. */
const TELLING: Readonly<Record<string, string>> = {
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

const PATHS: ReadonlySet<string> = new Set(['file_path', 'notebook_path', 'path']);

/** What a tool is used on, in one line. Of a tool that nobody knows it is the first text in its input. */
function detailOf(tool: string, input: unknown, cwd: string): string {
  if (typeof input !== 'object' || input === null) return '';
  const texts = Object.entries(input).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const telling = Object.hasOwn(TELLING, tool) ? TELLING[tool] : undefined;
  const [name, text] = texts.find(([key]) => key === telling) ?? texts[0] ?? ['', ''];
  return PATHS.has(name) ? pathFrom(cwd, text) : firstLine(text);
}

/** A path as it is seen from the folder, if it is inside. */
function pathFrom(cwd: string, path: string): string {
  if (cwd === '' || !isAbsolute(path)) return path;
  const short = relative(cwd, path);
  return short === '' || /^\.\.([/\\]|$)/.test(short) || isAbsolute(short) ? path : short;
}

/** The first line with anything in it. */
function firstLine(text: string): string {
  const whole = text.trimStart();
  const end = whole.indexOf('\n');
  return (end < 0 ? whole : whole.slice(0, end)).trimEnd();
}
