import { expect, test } from 'vitest';
import { startTestServer } from './test-server.ts';

test.each<[string, (server: Awaited<ReturnType<typeof startTestServer>>) => Promise<number>, number]>([
  [
    'a NUL character in a field',
    async (server) =>
      (await server.post('/api/runs', { project: await server.id(), workflow: 'w', model: 'a\0b' })).status,
    422,
  ],
  ['a NUL character in a query', async (server) => (await server.get('/api/runs?status=a%00b')).status, 422],
  [
    'a NUL character in a name',
    async (server) => (await server.get(`/api/runs/${await server.id()}/a%00b`)).status,
    404,
  ],
  [
    'a body that is nested deep',
    async (server) => {
      const body = `{"workflow": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
      const headers = { 'content-type': 'application/json' };
      return (await server.request('/api/runs', { method: 'POST', body, headers })).status;
    },
    422,
  ],
])('%s is refused', async (_, send, status) => {
  const server = await startTestServer();
  expect(await send(server)).toBe(status);
  expect(server.messages).toStrictEqual([]);
});
