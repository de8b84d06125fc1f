import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../errors.ts';
import type { RunControl } from '../runtime/run-control.ts';
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
  /** The database whose runs are shown, instead of those of folders. */
  readonly database?: { readonly name: string; readonly control: RunControl };
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

const MAX_CONNECTIONS = 512;
/** How long a request may take to arrive. */
const MAX_REQUEST_MS = 60_000;

/** Starts the server. It only reads what is on disk and makes requests; no run depends on it. */
export async function startServer(request: ServeRequest): Promise<RunningServer> {
  const { host, roots, cwd, env, command, version, report, database } = request;
  const token = request.token ?? randomBytes(24).toString('base64url');
  const now = Date.now;
  const server = {
    catalog: new ProjectCatalog(roots, { folder: cwd, env, now, report, ...(database && { database }) }),
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
  const http = createAdaptorServer({ fetch: app.fetch });
  http.on('connection', (socket) => socket.setNoDelay(true));
  if ('maxConnections' in http) http.maxConnections = MAX_CONNECTIONS;
  // Of a request, not of its response: a stream lasts as long as somebody reads it.
  if ('requestTimeout' in http) http.requestTimeout = MAX_REQUEST_MS;
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
