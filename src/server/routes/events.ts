import { z } from 'zod';
import { readRunStatus } from '../../app/status.ts';
import { createEventDocument } from '../../documents/event-document.ts';
import { DOCUMENTS } from '../../documents/schemas.ts';
import { Problem } from '../problem.ts';
import { defineRoute, type Route } from '../route.ts';
import { countParam } from './run-requests.ts';

const AFTER = z.coerce.number().int().min(-1).optional();

/** The routes of events. */
export const EVENT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/events',
    summary: 'Streams the steps of a run, those to come included, and what running turns say, as server-sent events.',
    query: z.strictObject({ after: AFTER.describe('Begin after this step; a `Last-Event-ID` wins over it.') }),
    type: 'text/event-stream',
    responds:
      'Messages `step` whose id is the step: `{seq, events}` with events as `--events` prints them. Messages `delta` without an id: ' +
      '`{turns}`, each with `agent`, `turn`, `state`, the `entries` of the last 100 ms, and how many came before, `first`.',
    handle: async ({ params, query, raw }, server) => {
      const { storage } = await server.catalog.project(params.project ?? '');
      const { run } = await readRunStatus(params.run ?? '', storage);
      const last = raw.headers.get('last-event-id');
      const after = last !== null && /^\d{1,15}$/.test(last) ? Number(last) : (query.after ?? -1);
      return openEventStream(raw.signal, (signal, send) =>
        server.feeds.follow({ id: run.id, storage }, after, signal, (message) =>
          send(message.kind, message.text, message.kind === 'step' ? message.seq : undefined),
        ),
      );
    },
  }),
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/journal',
    summary: 'Reads the steps of a run after a step, as far as they have come.',
    query: z.strictObject({ after: AFTER, limit: countParam(10_000, 1_000) }),
    responds: 'The `steps`, each `{seq, events}`, and whether there are `more`.',
    response: DOCUMENTS.Journal,
    handle: async ({ params, query }, { catalog, journals }) => {
      const { storage } = await catalog.project(params.project ?? '');
      const { run } = await readRunStatus(params.run ?? '', storage);
      const { steps, more } = await journals.read({ id: run.id, storage }, query.after ?? -1, query.limit);
      return { steps: steps.map(({ seq, events }) => ({ seq, events: events.map(createEventDocument) })), more };
    },
  }),
];

/** Sends one message; its id, if it has one, is what a browser sends when it comes back. */
type SendMessage = (event: string, data: string, id?: number) => void;

const MAX_STREAMS = 200;
const HEARTBEAT_MS = 15_000;
/** The unread bytes that a slow reader may have before it is cut off; it reconnects and continues where it was. */
const MAX_UNREAD_BYTES = 8 << 20;

let openStreams = 0;

/** Opens a stream of server-sent events that lasts until the reader leaves or `serve` ends. */
function openEventStream(
  left: AbortSignal,
  serve: (signal: AbortSignal, send: SendMessage) => Promise<void>,
): Response {
  if (openStreams >= MAX_STREAMS) throw new Problem(503, `There are already ${MAX_STREAMS} open streams.`);
  openStreams += 1;
  const end = new AbortController();
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (text: string): void => {
          if (end.signal.aborted) return;
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) < -MAX_UNREAD_BYTES) close();
        };
        const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS);
        const close = (): void => {
          if (end.signal.aborted) return;
          end.abort();
          openStreams -= 1;
          clearInterval(heartbeat);
          left.removeEventListener('abort', close);
          try {
            controller.close();
          } catch {
            // The reader has left already.
          }
        };
        end.signal.addEventListener('abort', close);
        left.addEventListener('abort', close);
        // Without a first byte, some browsers take the stream for one that does not answer.
        write('retry: 1000\n\n');
        const send: SendMessage = (event, data, id) =>
          write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`);
        serve(end.signal, send).then(close, close);
        if (left.aborted) close();
      },
      cancel: () => end.abort(),
    },
    { highWaterMark: 0, size: (chunk) => chunk.byteLength },
  );
  return new Response(stream, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } });
}
