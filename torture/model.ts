import type { Reply } from '../test/messages-api/reply.ts';
import type { ApiMessage, ApiRequest, Block } from '../test/messages-api/request.ts';
import type { Script } from '../test/messages-api/server.ts';
import type { Random } from './random.ts';
import type { Task } from './workflow.ts';

/** The delay of the model before it answers. */
export interface Pace {
  readonly minMs: number;
  readonly maxMs: number;
}

/** The tokens of each answer; any price per token gives whole micro-dollars. */
const USAGE = { input: 1_200, output: 80 };

/** The number of answers to one prompt after which the model writes its tag in any case. */
const MOST_ANSWERS = 8;

/**
 * Creates a scripted model that behaves sensibly: it finds its latest task in the whole conversation, because after an
 * interruption the last prompt only says "continue"; it uses a tool unless it sees that this was done; it reads a file that
 * it may not overwrite unread; and then it writes its tag.
 */
export function newModel(random: Random, { minMs, maxMs }: Pace): Script {
  return (request: ApiRequest): Reply => {
    return { blocks: [answerTo(request.messages)], usage: USAGE, delayMs: Math.round(random.between(minMs, maxMs)) };
  };
}

function answerTo(messages: readonly ApiMessage[]): Block {
  const at = messages.findLastIndex((message) => message.role === 'user' && taskIn(message) !== undefined);
  const message = messages[at];
  const task = message === undefined ? undefined : taskIn(message);
  if (task === undefined) return { type: 'text', text: 'I have no task.' };
  const later = messages.slice(at);
  const { tool, say } = task;
  const answers = later.filter(({ role }) => role === 'assistant').length;
  const last = resultsIn(later).at(-1);
  if (tool === undefined || answers >= MOST_ANSWERS || (last?.ok && last.tool === tool.name)) {
    return { type: 'text', text: say };
  }
  const unread = tool.name === 'Write' && last?.tool === 'Write' && /read it first|not been read/i.test(last.text);
  const path = tool.input.file_path ?? '';
  return unread
    ? { type: 'tool_use', name: 'Read', input: { file_path: path } }
    : { type: 'tool_use', name: tool.name, input: tool.input };
}

function taskIn(message: ApiMessage): Task | undefined {
  const texts = blocksOf(message).flatMap(({ type, text = '' }) => (type === 'text' ? [text] : []));
  const json = [...texts.join('\n').matchAll(/«task (.*?)»/g)].at(-1)?.[1];
  return json === undefined ? undefined : (JSON.parse(json) as Task);
}

interface ToolResult {
  readonly tool: string;
  readonly ok: boolean;
  readonly text: string;
}

/** The results of tools, in order. Versions have different texts for an interrupted tool. */
function resultsIn(messages: readonly ApiMessage[]): readonly ToolResult[] {
  const blocks = messages.flatMap(blocksOf);
  const names = new Map(blocks.flatMap(({ type, id, name }) => (type === 'tool_use' ? [[id, String(name)]] : [])));
  return blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => {
      const text = JSON.stringify(block.content ?? '');
      const cut = /interrupted|outcome|unknown/i.test(text);
      return { tool: names.get(block.tool_use_id) ?? '', ok: block.is_error !== true && !cut, text };
    });
}

const blocksOf = ({ content }: ApiMessage): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;
