import { afterEach, expect, test } from 'vitest';
import { type MessagesApi, type Script, startMessagesApi } from './server.ts';

const open: MessagesApi[] = [];
afterEach(() => Promise.all(open.splice(0).map((api) => api.close())));

async function start(script?: Script): Promise<MessagesApi> {
  const api = await startMessagesApi(script);
  open.push(api);
  return api;
}

async function ask(api: MessagesApi, messages: readonly object[], stream = false): Promise<Response> {
  const body = JSON.stringify({ model: 'claude-opus-4-8', max_tokens: 10, stream, messages });
  return fetch(`${api.url}/v1/messages?beta=true`, { method: 'POST', body });
}

const user = (...texts: string[]) => ({ role: 'user', content: texts.map((text) => ({ type: 'text', text })) });
const said = async (api: MessagesApi, ...messages: object[]): Promise<string> => {
  const { content } = (await (await ask(api, messages)).json()) as { content: { text?: string; name?: string }[] };
  return content.map(({ text, name }) => text ?? name).join('+');
};

test('orders are executed one message at a time, followed by an echo', async () => {
  const api = await start();
  const prompt = user(
    '<system-reminder>now</system-reminder>',
    'go «think hm» «+tool Bash {"command":"ls"}» «say <goto>A</goto>»',
  );
  const answer = { role: 'assistant', content: 'x' };
  const tools = { role: 'user', content: [{ type: 'tool_result', content: 'a.txt' }] };
  expect(await said(api, prompt)).toBe('+Bash');
  expect(await said(api, prompt, answer, tools)).toBe('<goto>A</goto>');
  expect(await said(api, prompt, answer, tools, answer, tools)).toBe('done: a.txt');
  expect(await said(api, user('hello'))).toBe('echo: hello');
});

test('the last prompt counts, even within one message with an older one or with tool results', async () => {
  const api = await start();
  const tools = { type: 'tool_result', content: 'x' };
  expect(await said(api, user('«say old»', '«say new»'), { role: 'system', content: 'agents: …' })).toBe('new');
  expect(
    await said(api, user('«say old»'), { role: 'user', content: [tools, { type: 'text', text: '«say new»' }] }),
  ).toBe('new');
});

test('failures happen as often as ordered', async () => {
  const api = await start();
  const statuses = [];
  for (const _ of [1, 2, 3]) statuses.push((await ask(api, [user('«fail 529 2» «say ok»')])).status);
  expect(statuses).toStrictEqual([529, 529, 200]);
  expect(api.requests.map(({ attempt }) => attempt)).toStrictEqual([1, 2, 3]);
  await expect(ask(api, [user('«fail drop»')])).rejects.toThrow('fetch failed');
});

test('charges are recorded by request', async () => {
  const api = await start();
  await said(api, user('«usage 1000 100» «say a»'));
  await said(api, user('«usage 2000 0 10000 0 100» «say b»'));
  await ask(api, [user('«fail 500»')]);
  expect(api.chargedUsd('«usage 1000 100» «say a»')).toBeCloseTo(0.0075, 10);
  expect(api.chargedUsd()).toBeCloseTo(0.0075 + 0.005 * (2 + 1 + 0.2), 10);
});

test('a script takes precedence over orders, and requests can be awaited', async () => {
  const api = await start(({ prompt }) =>
    prompt === 'secret' ? { blocks: [{ type: 'text', text: 'no' }] } : undefined,
  );
  const seen = api.seen(({ prompt }) => prompt === 'secret');
  expect(await said(api, user('«say yes»'))).toBe('yes');
  expect(await said(api, user('secret'))).toBe('no');
  expect((await seen).messages).toStrictEqual([user('secret')]);
});

test('answers are streamed in pieces', async () => {
  const api = await start();
  const text = await (await ask(api, [user('«usage 7 9» «say hello»')], true)).text();
  const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
  const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
  expect(types).toStrictEqual(['message_start', ...block, 'message_delta', 'message_stop']);
  expect(text).toContain('"output_tokens":9');
});

test('an unknown order is reported to the sender', async () => {
  const response = await ask(await start(), [user('«dance»')]);
  expect([response.status, await response.text()]).toStrictEqual([
    400,
    expect.stringContaining('no such order: «dance'),
  ]);
});
