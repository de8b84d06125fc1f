import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnRef } from '../core/turns/due.ts';
import { createPrintReader, type PrintPiece } from '../language/tags/prints.ts';
import type { FileChunk } from '../process/lines.ts';
import type { OutputStream, PrintReporter } from './print-reporter.ts';
import type { TurnContext } from './turn-context.ts';

/** Most scripts are over sooner; what they show is then read from their whole output. */
const FOLLOW_AFTER_MS = 100;

/** A longer line is reported in pieces. */
const MAX_LINE_CHARS = 64 * 1024;

/** The dependencies for showing the output of a script. */
type OutputContext = Pick<TurnContext, 'clock' | 'onActivity' | 'onPrint'>;

/** Reports the output of a script as it comes until it has exited, if somebody watches: its `<print>`s, and its other lines as activity. */
export async function reportScriptOutput(
  context: OutputContext,
  turn: TurnRef,
  prints: PrintReporter,
  exited: Promise<unknown>,
  follow: (stream: OutputStream) => AsyncIterable<FileChunk>,
): Promise<void> {
  const { onActivity, onPrint } = context;
  if (onActivity === undefined && (onPrint === undefined || (await isOverWithin(FOLLOW_AFTER_MS, exited)))) return;
  const streams: readonly OutputStream[] = ['stdout', 'stderr'];
  // A failure here does not fail the turn.
  await Promise.allSettled(streams.map((stream) => followStream(context, turn, stream, prints, follow(stream))));
}

async function followStream(
  { clock, onActivity }: OutputContext,
  turn: TurnRef,
  stream: OutputStream,
  prints: PrintReporter,
  chunks: AsyncIterable<FileChunk>,
): Promise<void> {
  const reader = createPrintReader();
  const decoder = new StringDecoder('utf8');
  let line = '';
  const reportLine = (text: string): void => {
    if (text.trim() !== '') onActivity?.({ at: clock.now(), agent: turn.agent, doing: { kind: 'prints', text } });
  };
  const report = (piece: PrintPiece): void => {
    prints.add(stream, piece.prints);
    if (onActivity === undefined) return;
    const lines = `${line}${piece.rest}`.split('\n');
    line = lines.pop() ?? '';
    lines.forEach(reportLine);
    if (line.length < MAX_LINE_CHARS) return;
    reportLine(line);
    line = '';
  };
  for await (const { bytes } of chunks) report(reader.push(decoder.write(bytes)));
  report(reader.push(decoder.end()));
  report(reader.end());
  reportLine(line);
}

async function isOverWithin(ms: number, exited: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const isOver = exited.then(
    () => true,
    () => true,
  );
  const waited = delay(ms, false, { signal: over.signal, ref: false }).catch(() => true);
  try {
    return await Promise.race([isOver, waited]);
  } finally {
    over.abort();
  }
}
