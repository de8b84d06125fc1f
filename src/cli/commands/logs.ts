import { writeLogs } from '../../app/logs.ts';
import { EXIT } from '../../errors.ts';
import type { Pager } from '../../render/terminal/pager.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import type { RunStorage } from '../../storage/storage.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { getCountOption, getTextOption } from '../parsed-options.ts';

/** `raymond logs [RUN]`: prints the log of a run. */
export const handleLogs: CommandHandler = async ([requestedRun = 'last'], options, terminal) => {
  if (options.json && options.raw) throw usageError('--json prints events and --raw the output of turns: choose one');
  const { out, err, cwd, screen, outIsScreen = false } = terminal;
  const { stdout } = process;
  const raw = options.raw === true;
  const readerGone = new AbortController();
  // The reader may leave, such as `head`: then the rest of a long log need not be written.
  const stopWriting = (): void => readerGone.abort();
  stdout.once('error', stopWriting);
  /** Started with the first line, so that an error is not shown in it. */
  const shown: { pager: Pager | null } = { pager: null };
  const output = bufferOutput((text) => {
    shown.pager ??= choosePager(options, terminal, stopWriting);
    if (shown.pager !== null) shown.pager.write(text);
    else if (raw) out(text, 'exact');
    else out(text);
  });
  const agent = getTextOption(options, 'agent');
  const state = getTextOption(options, 'state');
  const tail = getCountOption(options, 'tail');
  try {
    const writeWith = (storage: RunStorage): Promise<void> =>
      writeLogs(requestedRun, {
        cwd,
        storage,
        raw,
        json: options.json === true,
        follow: options.follow === true,
        signal: readerGone.signal,
        ...(agent !== undefined && { agent }),
        ...(state !== undefined && { state }),
        ...(tail !== undefined && { tail }),
        color: screen?.color === true && outIsScreen,
        write: (line) => output.write(`${line}\n`),
        writeMessage: (text) => (shown.pager?.write ?? err)(`${text}\n`),
        drain: async () => shown.pager?.drain(),
      });
    await withStorage(findDatabaseAddress(options, terminal), terminal, ({ storage }) => writeWith(storage));
  } finally {
    output.flush();
    stdout.off('error', stopWriting);
    await shown.pager?.close();
  }
  return EXIT.completed;
};

/** The pager for a log in a terminal; null for a log that continues by itself or is for a program. */
function choosePager(options: ParsedOptions, { startPager }: Terminal, onLeft: () => void): Pager | null {
  const pager = options.pager === false || options.follow || options.json ? null : (startPager?.() ?? null);
  pager?.left.addEventListener('abort', onLeft);
  return pager;
}

const MAX_BUFFERED_CHARS = 1 << 16;

/** Joins what is written in one go into few calls, because each call costs, without delaying any of it. */
function bufferOutput(out: (text: string) => void): { write: (text: string) => void; flush: () => void } {
  let buffered = '';
  const flush = (): void => {
    const text = buffered;
    buffered = '';
    if (text !== '') out(text);
  };
  return {
    write(text) {
      if (buffered === '') setImmediate(flush);
      buffered += text;
      if (buffered.length > MAX_BUFFERED_CHARS) flush();
    },
    flush,
  };
}
