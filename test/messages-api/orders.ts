import { FAILURE_NAMES, type Failure, type FailureName, type Reply, type Tokens } from './reply.ts';
import { type ApiRequest, type Block, lastToolResult } from './request.ts';

/*
 * Orders that a prompt can hold. Each message they make answers one request.
 *
 *   «say TEXT»  «think TEXT»  «tool NAME JSON»    a message; with a plus («+tool NAME JSON») one more block of the last
 *   «usage IN OUT [READ [WRITE [LONG]]]»          what the next message costs, in tokens
 *   «delay MS»  «slow MS»                         how long it takes
 *   «fail KIND [TIMES [DETAIL]]»                  how the next message fails, the first TIMES times (default: always)
 *
 * Orders may lie within orders: those of a sub-agent in the prompt that «tool Agent …» gives it.
 */

interface Message {
  readonly blocks: Block[];
  modifiers: Omit<Reply, 'blocks' | 'fail'>;
  failures: readonly { readonly failure: Failure; readonly times: number }[];
}

/** The reply that a prompt orders for a request; an echo if no order is left. */
export function obey(request: ApiRequest): Reply {
  const { prompt, step, attempt, messages } = request;
  const message = messagesIn(prompt)[step];
  const failure = message?.failures.find(({ times }) => attempt <= times)?.failure;
  const result = lastToolResult(messages);
  const echo = { type: 'text', text: result === '' ? `echo: ${prompt.slice(0, 80)}` : `done: ${result.slice(0, 300)}` };
  const blocks = message === undefined || message.blocks.length === 0 ? [echo] : message.blocks;
  return { ...message?.modifiers, blocks, ...(failure !== undefined && { fail: failure }) };
}

function messagesIn(prompt: string): readonly Message[] {
  const messages: Message[] = [];
  let next: Message = { blocks: [], modifiers: {}, failures: [] };
  let touched = false;
  for (const order of ordersIn(prompt)) {
    const [verb = '', rest = ''] = splitOnce(order);
    const block = blockOf(verb.replace('+', ''), rest);
    if (block !== undefined && verb.startsWith('+')) messages.at(-1)?.blocks.push(block);
    else if (block !== undefined) {
      messages.push({ ...next, blocks: [block] });
      next = { blocks: [], modifiers: {}, failures: [] };
      touched = false;
    } else {
      modify(next, verb, rest.trim().split(/\s+/));
      touched = true;
    }
  }
  return touched ? [...messages, next] : messages;
}

function blockOf(verb: string, rest: string): Block | undefined {
  if (verb === 'say') return { type: 'text', text: rest };
  if (verb === 'think') return { type: 'thinking', thinking: rest, signature: 'c2lnbmVk' };
  if (verb !== 'tool') return undefined;
  const [name = '', input = ''] = splitOnce(rest);
  return { type: 'tool_use', name, input: JSON.parse(input || '{}') };
}

function modify(message: Message, verb: string, words: readonly string[]): void {
  const numbers = words.map(Number);
  if (verb === 'usage') message.modifiers = { ...message.modifiers, usage: tokens(numbers) };
  else if (verb === 'delay') message.modifiers = { ...message.modifiers, delayMs: numbers[0] ?? 0 };
  else if (verb === 'slow') message.modifiers = { ...message.modifiers, slowMs: numbers[0] ?? 0 };
  else if (verb === 'fail') message.failures = [...message.failures, failureOf(words)];
  else throw new Error(`no such order: «${verb} ${words.join(' ')}»`);
}

function failureOf([kind = '', times, ...detail]: readonly string[]): Message['failures'][number] {
  if (!FAILURE_NAMES.includes(kind)) throw new Error(`no such failure: ${kind}`);
  const failure: Failure = { kind: kind as FailureName, ...(detail.length > 0 && { detail: detail.join(' ') }) };
  return { failure, times: times === undefined || times === '*' ? Number.POSITIVE_INFINITY : Number(times) };
}

const tokens = ([
  input = 0,
  output = 0,
  cacheRead = 0,
  cacheWrite = 0,
  cacheWriteLong = 0,
]: readonly number[]): Tokens => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  cacheWriteLong,
});

/** The outermost orders of a text. */
function ordersIn(text: string): readonly string[] {
  const orders: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(/[«»]/g)) {
    if (mark === '«' && depth++ === 0) start = index + 1;
    if (mark === '»' && depth > 0 && --depth === 0) orders.push(text.slice(start, index));
  }
  return orders;
}

function splitOnce(text: string): readonly [string, string] {
  const at = text.search(/\s/);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
