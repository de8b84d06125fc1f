import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT, RaymondError } from '../../errors.ts';
import { resolvePackageFile } from '../../package-files.ts';
import { MARKER_VARIABLE } from '../../process/command.ts';
import { endMarked } from '../../process/end.ts';
import { findMarkedProcesses } from '../../process/marker.ts';
import type { ProxyOrders, RefusedHost } from './proxy-server.ts';

/** How long the proxy may take to start on a busy machine. */
const START_TIMEOUT_MS = 20_000;
const RETRY_MS = 10;

/**
 * Keeps the proxy of a run going while sandboxed turns need it: it may have been started by an earlier process of Raymond, and is started again
 * if it is killed.
 */
export class SandboxProxy {
  private readonly folder: string;
  private readonly runMarker: string;
  private readonly orders: ProxyOrders;
  private readonly onRefused: (refused: RefusedHost) => void;
  private connection: Promise<Socket> | undefined;
  private isClosed = false;

  constructor(folder: string, runMarker: string, orders: ProxyOrders, onRefused: (refused: RefusedHost) => void) {
    this.folder = folder;
    this.runMarker = runMarker;
    this.orders = orders;
    this.onRefused = onRefused;
  }

  /** The folder of the sockets for one kind of turn. */
  doorsOf(kind: keyof ProxyOrders): string {
    return join(this.folder, kind);
  }

  /** Resolves once the proxy listens. */
  async ensure(): Promise<void> {
    this.connection ??= this.open();
    await this.connection.catch((error: unknown) => {
      this.connection = undefined;
      throw error;
    });
  }

  /** Lets go of the proxy, and ends it unless turns are left that need it. */
  async close(): Promise<void> {
    this.isClosed = true;
    const socket = await this.connection?.catch(() => undefined);
    socket?.destroy();
    if (socket === undefined) return;
    const left = await findMarkedProcesses(`${this.runMarker}/`);
    if (left.every(({ marker }) => marker === this.marker)) await endMarked(this.marker, { graceMs: 1_000 });
  }

  /** No agent is called so. */
  private get marker(): string {
    return `${this.runMarker}/proxy/1`;
  }

  private async open(): Promise<Socket> {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const running = await this.tryToConnect();
    if (running !== null) return this.follow(running);
    this.start();
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const socket = await this.tryToConnect();
      if (socket !== null) return this.follow(socket);
      await delay(RETRY_MS);
    }
    throw new RaymondError('the proxy of the sandbox does not start', {
      exitCode: EXIT.failed,
      hint: `Look into ${join(this.folder, 'log')}, then resume the run.`,
    });
  }

  private start(): void {
    const log = openSync(join(this.folder, 'log'), 'a', 0o600);
    const child = spawn(process.execPath, [resolvePackageFile('dist/proxy.js'), this.runMarker], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, [MARKER_VARIABLE]: this.marker },
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    child.on('error', () => {});
    child.unref();
  }

  /** The path of a socket has at most 107 bytes, so it is named from its open folder. */
  private async tryToConnect(): Promise<Socket | null> {
    const folder = openSync(this.folder, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      const socket = connect(`/proc/self/fd/${folder}/control`);
      await once(socket, 'connect');
      return socket;
    } catch {
      return null;
    } finally {
      closeSync(folder);
    }
  }

  private async follow(socket: Socket): Promise<Socket> {
    socket.unref();
    socket.on('error', () => {});
    const ready = new Promise<void>((done, fail) => {
      createInterface({ input: socket }).on('line', (line) => {
        const said = JSON.parse(line) as { ready?: true; refused?: RefusedHost };
        if (said.refused !== undefined) this.onRefused(said.refused);
        if (said.ready) done();
      });
      socket.once('close', () => fail(new Error('the proxy of the sandbox has ended')));
    });
    socket.write(`${JSON.stringify(this.orders)}\n`);
    await ready;
    socket.once('close', () => {
      this.connection = undefined;
      // Turns that run now need another one.
      if (!this.isClosed) this.ensure().catch(() => {});
    });
    return socket;
  }
}
