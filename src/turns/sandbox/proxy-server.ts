import { lookup } from 'node:dns/promises';
import { mkdirSync, rmSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import {
  BlockList,
  connect,
  createServer as createSocketServer,
  isIP,
  isIPv6,
  type Socket,
  type Server as SocketServer,
} from 'node:net';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import { forwardedPorts, type HostRule, isNamedHost, parseHostRule } from '../../language/host-rules.ts';
import { findMarkedProcesses } from '../../process/marker.ts';

/*
 * The way out of the sandboxes of a run: a process of its own, because turns continue when Raymond is gone. It has a door for prompts and one for
 * scripts, each with a proxy and with ports of this machine, as Unix sockets below the folder that it is started in. Raymond holds a
 * connection to the socket `control`, through which it says who may reach which hosts, and hears of those that were refused.
 *
 * It ends when neither a Raymond nor a process of the run is left.
 *
 * It reads names of hosts only. It looks them up itself, and connects to the address that it has checked.
 */

/** The hosts that each kind of turn reaches. */
export interface ProxyOrders {
  readonly prompt: readonly string[];
  readonly script: readonly string[];
}

/** The kinds of turns, each with a door of its own. */
const DOORS = ['prompt', 'script'] as const;

/** A host that a sandboxed turn asked for and did not get. */
export interface RefusedHost {
  /** The sandbox, by the name that it gives itself. */
  readonly sandbox: string;
  readonly host: string;
  readonly reason: string;
}

const CONTROL = 'control';
const POLL_MS = 1_000;
const CONNECT_TIMEOUT_MS = 30_000;
const MAX_KEPT_REFUSALS = 1_000;

/** Serves the sandboxes of a run until nobody needs it. */
export function serveSandboxes(runMarker: string): void {
  const rules: Record<(typeof DOORS)[number], readonly HostRule[]> = { prompt: [], script: [] };
  const forwarders = new Map<string, SocketServer>();
  const controllers = new Set<Socket>();
  const refusals: RefusedHost[] = [];
  const refuse = (refused: RefusedHost): void => {
    if (refusals.length < MAX_KEPT_REFUSALS) refusals.push(refused);
    for (const each of controllers) each.write(`${JSON.stringify({ refused })}\n`);
  };
  const proxies = DOORS.map((door) => {
    mkdirSync(door, { recursive: true, mode: 0o700 });
    return listen(
      createProxy(() => rules[door], refuse),
      `${door}/proxy`,
    );
  });

  const follow = async (orders: ProxyOrders): Promise<void> => {
    const wanted = new Map<string, number>();
    for (const door of DOORS) {
      rules[door] = orders[door].flatMap((text) => parseHostRule(text) ?? []);
      for (const port of forwardedPorts(rules[door])) wanted.set(`${door}/port-${port}`, port);
    }
    for (const [path, server] of forwarders) {
      if (wanted.has(path)) continue;
      server.close();
      forwarders.delete(path);
      rmSync(path, { force: true });
    }
    for (const [path, port] of wanted) {
      if (forwarders.has(path)) continue;
      const server = createSocketServer((inner) => join(inner, connect(port, '127.0.0.1')));
      forwarders.set(path, server);
      await listen(server, path);
    }
  };

  const control = createSocketServer((socket) => {
    controllers.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => controllers.delete(socket));
    for (const refused of refusals) socket.write(`${JSON.stringify({ refused })}\n`);
    createInterface({ input: socket }).on('line', async (line) => {
      await follow(JSON.parse(line) as ProxyOrders);
      socket.write('{"ready":true}\n');
    });
  });
  // Last, because who can connect to it counts on the others.
  void Promise.all(proxies).then(() => listen(control, CONTROL));

  const endWhenUnused = async (): Promise<void> => {
    const isUsed = controllers.size > 0 || (await findMarkedProcesses(`${runMarker}/`)).length > 0;
    if (!isUsed && controllers.size === 0) process.exit(0);
    setTimeout(endWhenUnused, POLL_MS);
  };
  setTimeout(endWhenUnused, FIRST_POLL_MS);
}

/** Raymond connects as soon as it can. */
const FIRST_POLL_MS = 10_000;

/** Listens at a path; a socket of an earlier process is in the way. */
function listen(server: SocketServer | Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  return new Promise((done, fail) => server.once('error', fail).listen(path, done));
}

/** Creates a proxy for HTTP and, by CONNECT, for everything else. */
function createProxy(rules: () => readonly HostRule[], refuse: (refused: RefusedHost) => void): Server {
  const agent = new Agent({ keepAlive: true });
  const open = async (asked: IncomingMessage, host: string, port: number): Promise<string | null> => {
    const target = await findTarget(rules(), host, port);
    if (target.kind === 'address') return target.address;
    refuse({ sandbox: sandboxOf(asked), host: `${host}:${port}`, reason: target.reason });
    return null;
  };

  const forward = async (asked: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const url = URL.canParse(asked.url ?? '') ? new URL(asked.url ?? '') : null;
    if (url === null || url.protocol !== 'http:') return answer(reply, 400, 'this is a proxy');
    const port = Number(url.port || 80);
    const address = await open(asked, url.hostname, port);
    if (address === null) return answer(reply, 403, refusalOf(url.hostname));
    const { 'proxy-authorization': _, 'proxy-connection': __, ...headers } = asked.headers;
    const options = { agent, host: address, port, method: asked.method, path: `${url.pathname}${url.search}` };
    const sent = request({ ...options, headers: { ...headers, host: url.host } }, (got) => {
      reply.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(reply);
    });
    sent.on('error', () => (reply.headersSent ? reply.destroy() : answer(reply, 502, 'the host does not answer')));
    reply.on('close', () => sent.destroy());
    asked.pipe(sent);
  };

  const server = createServer((asked, reply) => void forward(asked, reply).catch(() => reply.destroy()));
  server.on('connect', async (asked: IncomingMessage, inner: Socket, head: Buffer) => {
    inner.on('error', () => {});
    const [, host = '', port = ''] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(asked.url ?? '') ?? [];
    const address = await open(asked, host, Number(port));
    if (address === null) {
      const text = `${refusalOf(host)}\n`;
      inner.end(
        `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
      return;
    }
    const outer = connect({ host: address, port: Number(port), timeout: CONNECT_TIMEOUT_MS });
    outer.once('connect', () => {
      outer.setTimeout(0);
      inner.write('HTTP/1.1 200 Connection established\r\n\r\n');
      outer.write(head);
    });
    outer.once('timeout', () => outer.destroy());
    outer.once('error', () => inner.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    join(inner, outer);
  });
  return server;
}

const refusalOf = (host: string): string =>
  `Raymond's sandbox does not let this turn reach ${host}. The user can permit it: --sandbox-host ${host}`;

function answer(reply: ServerResponse, status: number, text: string): void {
  reply.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
}

/** The name that a sandbox gives itself as the user of the proxy. */
function sandboxOf({ headers }: IncomingMessage): string {
  const [, encoded = ''] = /^basic (.*)$/i.exec(headers['proxy-authorization'] ?? '') ?? [];
  const name = Buffer.from(encoded, 'base64').toString('utf8').split(':')[0] ?? '';
  return decodeURIComponent(/^[\w.%~-]*$/.test(name) ? name : '');
}

function join(inner: Socket, outer: Socket): void {
  for (const each of [inner, outer]) each.on('error', () => {});
  inner.pipe(outer);
  outer.pipe(inner);
  inner.on('close', () => outer.destroy());
  outer.on('close', () => inner.destroy());
}

type Target =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Finds the address of a host, if it may be reached: its name is permitted, and does not lead back to this machine. */
async function findTarget(rules: readonly HostRule[], host: string, port: number): Promise<Target> {
  if (!isNamedHost(rules, host, port)) return { kind: 'refused', reason: 'nobody has named it' };
  const found = isIP(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
  const [first] = found;
  if (first === undefined) return { kind: 'refused', reason: 'its name cannot be looked up' };
  if (found.some(({ address }) => isThisMachine(address)))
    return { kind: 'refused', reason: 'its name leads to this machine' };
  return { kind: 'address', address: first.address };
}

const LOCAL = new BlockList();
for (const [address, bits] of [
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
] as const)
  LOCAL.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of [
  ['::', 127],
  ['fe80::', 10],
] as const)
  LOCAL.addSubnet(address, bits, 'ipv6');

/** True for loopback, for addresses that no router knows, such as those of a cloud's metadata, and for the addresses of this machine. */
function isThisMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (LOCAL.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')) return true;
  return Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === plain));
}
