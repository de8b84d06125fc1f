import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_TOKENS, isRefusal, ODD_ENDS, REFUSALS, type Refusal, type Reply, type Tokens } from './reply.ts';
import type { Block } from './request.ts';

/** Sends a reply or fails as ordered, and returns the tokens that were charged. */
export async function respond(
  response: ServerResponse,
  reply: Reply,
  model: string,
  id: string,
  stream: boolean,
): Promise<Tokens> {
  const { fail, delayMs = 0, headers = {} } = reply;
  if (delayMs > 0) await delay(delayMs);
  const kind = fail?.kind;
  if (isRefusal(kind)) {
    refuse(response, kind, fail?.detail);
    return NOTHING;
  }
  if (kind === 'hang') return NOTHING;
  if (kind === 'drop') {
    response.socket?.destroy();
    return NOTHING;
  }
  if (kind === 'html') {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<html><body>Bad Gateway</body></html>');
    return NOTHING;
  }
  const say = stream ? sayInStream : sayAtOnce;
  return say(response, reply, model, id, { 'request-id': `req_${id}`, ...headers });
}

const NOTHING: Tokens = { input: 0, output: 0 };

type Headers = Readonly<Record<string, string>>;

function refuse(response: ServerResponse, kind: Refusal, detail: string | undefined): void {
  const [status, type, text] = REFUSALS[kind];
  const reset = detail ?? String(Math.floor(Date.now() / 1000) + 3600);
  const message = kind === 'limit' ? `${text}|${reset}` : text;
  response.writeHead(status, {
    'content-type': 'application/json',
    'request-id': 'req_refused',
    ...(kind === '429' && { 'retry-after': '1' }),
    ...(kind === 'limit' && limitHeaders(reset)),
  });
  response.end(JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_refused' }));
}

const limitHeaders = (reset: string): Headers => ({
  'anthropic-ratelimit-unified-status': 'rejected',
  'anthropic-ratelimit-unified-reset': reset,
  'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  'anthropic-ratelimit-unified-5h-status': 'rejected',
  'retry-after': '3600',
});

function sayAtOnce(response: ServerResponse, reply: Reply, model: string, id: string, headers: Headers): Tokens {
  const kind = reply.fail?.kind;
  if (kind === 'overloaded') {
    refuse(response, '529', undefined);
    return NOTHING;
  }
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  if (kind === 'hangmid') response.write('{"id":"msg');
  else if (kind === 'dropmid') response.write('{"id":"msg', () => response.socket?.destroy());
  else if (kind === 'malformed' || kind === 'garbage' || kind === 'empty')
    response.end(kind === 'empty' ? '' : '{"id":"msg');
  else {
    const { usage = DEFAULT_TOKENS } = reply;
    const whole = { ...head(model, id, usage), content: blocksOf(reply, id), stop_reason: stopReason(reply) };
    response.end(JSON.stringify({ ...whole, usage: usageOf(usage, usage.output) }));
    return usage;
  }
  return NOTHING;
}

async function sayInStream(
  response: ServerResponse,
  reply: Reply,
  model: string,
  id: string,
  headers: Headers,
): Promise<Tokens> {
  const { usage = DEFAULT_TOKENS, slowMs = 0 } = reply;
  const kind = reply.fail?.kind;
  const send = (type: string, data: object): boolean =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  if (kind === 'empty') {
    response.end();
    return NOTHING;
  }
  if (kind === 'overloaded') {
    send('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
    response.end();
    return NOTHING;
  }
  send('message_start', { message: head(model, id, usage) });
  const begun = { ...usage, output: 1 };
  if (kind === 'malformed')
    response.end('event: content_block_start\ndata: {"type":"content_block_start","index":0,"con\n\n');
  if (kind === 'garbage') response.end('this : is not a stream\n\n\u0000\u0001\n\ndata: [[[\n\n');
  if (kind === 'malformed' || kind === 'garbage') return begun;
  for (const [index, block] of blocksOf(reply, id).entries()) {
    send('content_block_start', { index, content_block: emptied(block) });
    for (const delta of deltasOf(block)) {
      send('content_block_delta', { index, delta });
      if (kind === 'hangmid') return begun;
      if (kind === 'dropmid') {
        response.write(': bye\n\n', () => response.socket?.destroy());
        return begun;
      }
      if (slowMs > 0) await delay(slowMs);
    }
    send('content_block_stop', { index });
  }
  send('message_delta', {
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    usage: { output_tokens: usage.output },
  });
  send('message_stop', {});
  response.end();
  return usage;
}

const head = (model: string, id: string, usage: Tokens): object => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: usageOf(usage, 1),
});

const usageOf = ({ input, cacheRead = 0, cacheWrite = 0, cacheWriteLong = 0 }: Tokens, output: number): object => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite + cacheWriteLong,
  cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWriteLong },
  service_tier: 'standard',
});

function blocksOf({ blocks, fail }: Reply, id: string): readonly Block[] {
  if (fail?.kind === 'refusal') return [];
  return blocks.map((block, index) => (block.type === 'tool_use' ? { id: `toolu_${id}_${index}`, ...block } : block));
}

function stopReason({ blocks, fail, stopReason }: Reply): string {
  if (fail?.kind === 'refusal' || fail?.kind === 'maxtokens') return ODD_ENDS[fail.kind];
  return stopReason ?? (blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn');
}

function emptied(block: Block): object {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { ...block, input: {} };
}

function deltasOf(block: Block): readonly object[] {
  if (block.type === 'text') {
    return (block.text?.match(/[\s\S]{1,400}/g) ?? ['']).map((text) => ({ type: 'text_delta', text }));
  }
  if (block.type === 'thinking') {
    const { thinking, signature } = block;
    return [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature },
    ];
  }
  const json = JSON.stringify(block.input);
  const middle = Math.floor(json.length / 2);
  return [json.slice(0, middle), json.slice(middle)].map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }));
}
