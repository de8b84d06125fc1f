import { randomBytes } from 'node:crypto';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { RunPlace } from '../app/launcher.ts';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../errors.ts';
import { createNameCheck, isLoopback } from './access.ts';
import { createApp } from './app.ts';
import { JournalPages } from './journal-pages.ts';
import { readPageFile } from './page-files.ts';
import { ProjectCatalog } from './project-catalog.ts';
import { RunFeeds } from './run-feed.ts';

/** How to serve. */
export interface ServeRequest {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly roots: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly command: readonly [string, ...string[]];
  readonly version: string;
  /** The token of the user's own; without it, a random one. */
  readonly token?: string;
  readonly report: (message: string) => void;
  /** Opens the runs of a folder. */
  readonly openFolder: (folder: string) => RunPlace;
  /** The runs of all folders, if they are in one place. */
  readonly shared?: RunPlace;
}

/** A server that listens. */
export interface RunningServer {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** The address that lets a browser in. */
  readonly address: string;
  readonly close: () => Promise<void>;
}

/** Starts the server. It only reads what is on disk and makes requests; no run depends on it. */
export async function startServer(request: ServeRequest): Promise<RunningServer> {
  const { host, roots, cwd, env, command, version, report, openFolder, shared } = request;
  const token = request.token ?? randomBytes(24).toString('base64url');
  const now = Date.now;
  const server = {
    catalog: new ProjectCatalog(roots, { folder: cwd, env, now, report, openFolder, ...(shared && { shared }) }),
    feeds: new RunFeeds(),
    journals: new JournalPages(),
    env,
    command,
    version,
    now,
    cwd,
  };
  let isOwnName = (_host: string): boolean => false;
  const access = { token, isOwnName: (name: string) => isOwnName(name) };
  const app = createApp(server, access, readPageFile, (error) =>
    report(error instanceof Error ? (error.stack ?? error.message) : errorMessageOf(error)),
  );
  const http = createAdaptorServer({ fetch: app.fetch, serverOptions: REQUEST_LIMITS });
  if (http instanceof Server) limitConnections(http);
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error) => reject(listenError(error, host, request.port)));
    http.listen(request.port, host, resolve);
  });
  const { port } = http.address() as AddressInfo;
  isOwnName = createNameCheck(host, port);
  const shown = isLoopback(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return {
    host,
    port,
    token,
    address: `http://${shown}:${port}/?token=${token}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        if ('closeAllConnections' in http) http.closeAllConnections();
      }),
  };
}

function listenError(error: unknown, host: string, port: number): RaymondError {
  const where = `${host}:${port}`;
  const [message, hint] =
    errorCodeOf(error) === 'EADDRINUSE'
      ? [`something already listens on ${where}`, 'Choose another --port, or leave it out for a free one.']
      : [`the server cannot listen on ${where}: ${errorMessageOf(error)}`, 'Choose another --host or --port.'];
  return new RaymondError(message, { exitCode: EXIT.usage, hint });
}

/** Of a request, not of its response: a stream lasts as long as somebody reads it. */
const REQUEST_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
} as const;

/** All connections together stay below the number of files that a process may usually have open. */
const MAX_CONNECTIONS = 512;

/** Connections without a request, or with one that has not arrived yet. */
const MAX_IDLE = 128;

/** Limits connections: the oldest of those that have not sent a request makes room for a new one, so that no number of them keeps others out. */
function limitConnections(server: Server): void {
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
