import { Problem } from './problem.ts';

/** Sends one message; its id, if it has one, is what a browser sends when it comes back. */
export type SendMessage = (event: string, data: string, id?: number) => void;

const MAX_STREAMS = 200;
const HEARTBEAT_MS = 15_000;
/** The unread bytes that a slow reader may have before it is cut off; it reconnects and continues where it was. */
const MAX_UNREAD_BYTES = 8 << 20;

let openStreams = 0;

/** Opens a stream of server-sent events that lasts until the reader leaves or `serve` ends. */
export function openEventStream(
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
