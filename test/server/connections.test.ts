import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startTestServer, type TestServer } from './test-server.ts';

/** Opens connections that say these words and then nothing; they are closed after the test. */
async function openSilent({ server }: TestServer, count: number, words: string): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(server.port, '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) socket.on('error', () => {}).resume();
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(words);
  return sockets;
}

test.each([
  ['nothing', ''],
  ['half a header', 'GET /api/projects HTTP/1.1\r\nhost: 127.0.0.1\r\nx-'],
  ['half a body', 'POST /api/runs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100000\r\n\r\n{'],
])('connections that send %s do not keep others out', async (_, words) => {
  const server = await startTestServer();
  await openSilent(server, 600, words);
  expect((await server.get('/api/projects')).status).toBe(200);
});

test('the oldest silent connections are closed for new ones', async () => {
  const server = await startTestServer();
  const [oldest] = await openSilent(server, 1, '');
  const closed = oldest && once(oldest, 'close');
  await openSilent(server, 200, '');
  await closed;
  expect((await server.get('/api/projects')).status).toBe(200);
});
