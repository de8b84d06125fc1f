import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnRef } from '../core/due.ts';
import { createPrintReader, type PrintPiece } from '../core/prints.ts';
import { followBytes } from '../process/lines.ts';
import { turnFiles } from '../process/turn-files.ts';
import type { OutputStream, PrintReporter } from './print-reporter.ts';
import type { TurnContext } from './turn-context.ts';

/** Most scripts are over sooner; what they show is then read from their whole output. */
const FOLLOW_AFTER_MS = 100;

/** A longer line is reported in pieces. */
const MAX_LINE_CHARS = 64 * 1024;

/** What is needed to show the output of a script. */
type OutputContext = Pick<TurnContext, 'clock' | 'folderOf' | 'onActivity' | 'onPrint'>;

/** Reports the output of a script as it comes, if somebody watches: its `<print>`s, and its other lines as activity. */
export async function reportScriptOutput(
  context: OutputContext,
  turn: TurnRef,
  prints: PrintReporter,
  exited: Promise<unknown>,
): Promise<void> {
  const { onActivity, onPrint } = context;
  if (onActivity === undefined && (onPrint === undefined || (await isOverWithin(FOLLOW_AFTER_MS, exited)))) return;
  const streams: readonly OutputStream[] = ['stdout', 'stderr'];
  // A failure here does not fail the turn.
  await Promise.allSettled(streams.map((stream) => followStream(context, turn, stream, prints, exited)));
}

async function followStream(
  { clock, folderOf, onActivity }: OutputContext,
  turn: TurnRef,
  stream: OutputStream,
  prints: PrintReporter,
  exited: Promise<unknown>,
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
  const onBytes = (bytes: Buffer): void => report(reader.push(decoder.write(bytes)));
  await followBytes(turnFiles(folderOf(turn))[stream], onBytes, { until: exited });
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
