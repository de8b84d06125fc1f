import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { z } from 'zod';
import { obey } from './orders.ts';
import { priceUsd } from './prices.ts';
import type { Reply } from './reply.ts';
import { type ApiMessage, type ApiRequest, locate } from './request.ts';
import { respond } from './respond.ts';

/** A request that was answered, or is being answered. */
export interface Logged extends ApiRequest {
  readonly session: string | null;
  readonly reply: Reply;
  /** The request as it was sent. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The cost of the answer; 0 until it is sent. */
  chargedUsd: number;
}

/** A scripted Messages API on loopback. */
export interface MessagesApi {
  readonly url: string;
  readonly requests: readonly Logged[];
  /** The cost of all requests, or of those with such a prompt. */
  chargedUsd(prompt?: string): number;
  /** The first request that fits, as soon as there is one. */
  seen(fits: (request: Logged) => boolean): Promise<Logged>;
  close(): Promise<void>;
}

/** Returns the answer to a request; undefined leaves it to the orders in the prompt. */
export type Script = (request: ApiRequest) => Reply | undefined;

const BODY = z.object({
  model: z.string(),
  stream: z.boolean().catch(false),
  max_tokens: z.number().catch(0),
  messages: z.array(z.custom<ApiMessage>((value) => typeof value === 'object' && value !== null)),
  system: z.unknown().optional(),
  tools: z.array(z.object({ name: z.string().catch('') })).catch([]),
});

/** Starts one on a free port. Each request is answered once `mayAnswer` has let it. */
export async function startMessagesApi(
  script: Script = () => undefined,
  mayAnswer: (request: ApiRequest) => Promise<void> = async () => {},
): Promise<MessagesApi> {
  const requests: Logged[] = [];
  const attempts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const watchers = new Set<() => void>();

  async function answer(text: string, session: string | null, response: ServerResponse): Promise<void> {
    const body = JSON.parse(text);
    const { model, stream, max_tokens, messages, system, tools } = BODY.parse(body);
    const place = locate(messages);
    const key = JSON.stringify([session, place, messages.length]);
    const attempt = (attempts.get(key) ?? 0) + 1;
    attempts.set(key, attempt);
    const request: ApiRequest = {
      model,
      stream,
      messages,
      ...place,
      attempt,
      maxTokens: max_tokens,
      system: JSON.stringify(system ?? ''),
      tools: tools.map(({ name }) => name),
    };
    const reply = script(request) ?? obey(request);
    const logged: Logged = { ...request, session, reply, body, chargedUsd: 0 };
    requests.push(logged);
    for (const look of watchers) look();
    await mayAnswer(request);
    logged.chargedUsd = priceUsd(model, await respond(response, reply, model, String(requests.length), stream));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { pathname } = new URL(request.url ?? '/', 'http://api');
    const json = { 'content-type': 'application/json' };
    if (request.method === 'HEAD') response.writeHead(200).end();
    else if (pathname.endsWith('/count_tokens'))
      response.writeHead(200, json).end(`{"input_tokens":${body.length >> 2}}`);
    else if (!pathname.endsWith('/v1/messages')) response.writeHead(404, json).end('{"type":"error"}');
    else await answer(body, headerOf(request, 'x-claude-code-session-id'), response);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // An error of the script is reported to the caller.
      const text = JSON.stringify({
        type: 'error',
        error: { type: 'invalid_request_error', message: `script: ${error}` },
      });
      if (response.headersSent) response.destroy();
      else response.writeHead(400, { 'content-type': 'application/json' }).end(text);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    chargedUsd: (prompt) =>
      requests
        .filter((each) => prompt === undefined || each.prompt === prompt)
        .reduce((sum, each) => sum + each.chargedUsd, 0),
    seen: (fits) =>
      new Promise((done) => {
        const look = (): void => {
          const found = requests.find(fits);
          if (found === undefined) return;
          watchers.delete(look);
          done(found);
        };
        watchers.add(look);
        look();
      }),
    close: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => done());
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}
