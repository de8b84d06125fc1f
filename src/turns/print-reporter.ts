import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { TurnRef } from '../core/turns/due.ts';
import { createPrintReader, readPrints } from '../language/tags/prints.ts';
import { readChunks } from '../process/lines.ts';
import type { TurnContext } from './turn-context.ts';

/** The stream of a turn that has a `<print>`. */
export type OutputStream = 'stdout' | 'stderr';

/** How many texts of each stream were shown. */
type ShownCounts = Readonly<Record<OutputStream, number>>;

const NONE_SHOWN: ShownCounts = { stdout: 0, stderr: 0 };
const SHOWN_FILE = 'printed.json';

/** A turn that shows more has lost its way; its output has them all. */
const MAX_PRINTS = 1_000;
const LEFT_OUT = `… this turn has more than ${MAX_PRINTS} <print>s; the others are only in its output`;

/** How to show texts; without a folder for it, nothing records how many were shown. */
type PrintContext = Pick<TurnContext, 'clock' | 'onPrint'> & Partial<Pick<TurnContext, 'folderOf'>>;

/**
 * Shows the user the texts of a turn's `<print>`s, each once: how many were shown stands in the turn's folder before they
 * are, so that a process that adopts the turn shows only the others.
 */
export class PrintReporter {
  private readonly context: PrintContext;
  private readonly turn: TurnRef;
  private readonly shownBefore: ShownCounts;
  private readonly added: Record<OutputStream, number> = { ...NONE_SHOWN };
  private readonly texts: string[] = [];

  constructor(context: PrintContext, turn: TurnRef, adopted: boolean) {
    this.context = context;
    this.turn = turn;
    this.shownBefore = adopted && context.onPrint !== undefined ? this.readShown() : NONE_SHOWN;
  }

  /** The texts for the signal of the turn's end. */
  get signalFields(): { readonly prints?: readonly string[] } {
    return this.texts.length === 0 ? {} : { prints: this.texts };
  }

  /** Takes the next texts of a stream. */
  add(stream: OutputStream, texts: readonly string[]): void {
    if (texts.length === 0) return;
    const room = Math.max(0, MAX_PRINTS - this.texts.length);
    const isFull = this.texts.length > MAX_PRINTS;
    const kept = texts.length > room && !isFull ? [...texts.slice(0, room), LEFT_OUT] : texts.slice(0, room);
    const alreadyShown = Math.max(0, this.shownBefore[stream] - this.added[stream]);
    this.added[stream] += texts.length;
    for (const text of kept) this.texts.push(text);
    this.show(kept.slice(alreadyShown));
  }

  /** Takes those texts of a stream that is over which were not added as they came. Returns what it had to read for that. */
  async complete(stream: OutputStream, file: string): Promise<FinishedOutput> {
    const output = readOutput(file);
    const texts = output.text === undefined ? await readFilePrints(file) : readPrints(output.text).prints;
    this.add(stream, texts.slice(this.added[stream]));
    return output;
  }

  private show(texts: readonly string[]): void {
    const { clock, folderOf, onPrint } = this.context;
    if (onPrint === undefined || texts.length === 0) return;
    const { agent, state, number: turn } = this.turn;
    const shown = {
      stdout: Math.max(this.added.stdout, this.shownBefore.stdout),
      stderr: Math.max(this.added.stderr, this.shownBefore.stderr),
    };
    try {
      if (folderOf !== undefined)
        writeFileSync(join(folderOf(this.turn), SHOWN_FILE), JSON.stringify(shown), { mode: 0o600 });
    } catch {
      // To show them is worth more than to be sure that nobody shows them again.
    }
    for (const text of texts) onPrint({ kind: 'printed', at: clock.now(), agent, state, turn, text });
  }

  /** Nothing, if the file is missing or damaged. */
  private readShown(): ShownCounts {
    try {
      const text = readFileSync(join(this.context.folderOf?.(this.turn) ?? '', SHOWN_FILE), 'utf8');
      const { stdout, stderr } = JSON.parse(text) as Partial<Record<OutputStream, unknown>>;
      return { stdout: Number(stdout) || 0, stderr: Number(stderr) || 0 };
    } catch {
      return NONE_SHOWN;
    }
  }
}

/** A file that no process writes to any more; a missing one is empty. */
export interface FinishedOutput {
  readonly size: number;
  /** Undefined if it is large. */
  readonly text: string | undefined;
}

/** Files up to this size are read at once. */
const SMALL_BYTES = 1024 * 1024;

function readOutput(file: string): FinishedOutput {
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
  return { size, text: size === 0 ? '' : size <= SMALL_BYTES ? readFileSync(file, 'utf8') : undefined };
}

/** The texts of the `<print>`s in a large file. */
async function readFilePrints(file: string): Promise<readonly string[]> {
  const texts: string[] = [];
  const reader = createPrintReader();
  const decoder = new StringDecoder('utf8');
  for await (const chunk of readChunks(file)) {
    for (const text of reader.push(decoder.write(chunk)).prints) texts.push(text);
  }
  return texts;
}
