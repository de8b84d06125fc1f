import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Of a request, not of its response: a stream lasts as long as somebody reads it. */
export const REQUEST_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
} as const;

/** All connections together stay below the number of files that a process may usually have open. */
const MAX_CONNECTIONS = 512;

/** Connections without a request, or with one that has not arrived yet. */
const MAX_IDLE = 128;

/** Limits connections: the oldest of those that have not sent a request makes room for a new one, so that no number of them keeps others out. */
export function limitConnections(server: Server): void {
  server.maxConnections = MAX_CONNECTIONS;
  // In the order in which they became idle.
  const idle = new Set<Socket>();
  const rest = (socket: Socket): void => {
    if (socket.destroyed) return;
    idle.delete(socket);
    idle.add(socket);
    for (const oldest of idle) {
      if (idle.size <= MAX_IDLE) break;
      idle.delete(oldest);
      oldest.destroy();
    }
  };
  server.on('connection', (socket) => {
    socket.setNoDelay(true);
    socket.once('close', () => idle.delete(socket));
    rest(socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    response.once('close', () => rest(socket));
  });
}
