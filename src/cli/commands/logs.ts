import { EXIT } from '../../errors.ts';
import { sanitize } from '../../events/sanitize.ts';
import { writeLogs } from '../../runtime/logs.ts';
import type { CommandHandler } from '../command.ts';
import { getTextOption } from '../parsed-options.ts';

/** `raymond logs [RUN]`: prints the log of a run. */
export const handleLogs: CommandHandler = async ([requestedRun = 'last'], options, { out, err, cwd, screen }) => {
  const { stdout } = process;
  const readerGone = new AbortController();
  // The reader may leave, such as `head`: then the rest of a long log need not be written.
  const stopWriting = (): void => readerGone.abort();
  stdout.once('error', stopWriting);
  const output = bufferOutput(out);
  const agent = getTextOption(options, 'agent');
  const raw = options.raw === true;
  try {
    await writeLogs(requestedRun, {
      cwd,
      raw,
      follow: options.follow === true,
      signal: readerGone.signal,
      ...(agent !== undefined && { agent }),
      color: screen?.color === true && stdout.isTTY === true,
      // Control characters are harmful only in a terminal: files and programs get the lines unchanged.
      write: (line) => output.write(`${raw && stdout.isTTY ? sanitize(line) : line}\n`),
      writeMessage: (text) => err(`${text}\n`),
    });
  } finally {
    output.flush();
    stdout.off('error', stopWriting);
  }
  return EXIT.completed;
};

const MAX_BUFFERED_CHARS = 1 << 16;

/** Joins what is written in one go into few calls, because each call costs, without delaying any of it. */
function bufferOutput(out: (text: string) => void): { write: (text: string) => void; flush: () => void } {
  let buffered = '';
  const flush = (): void => {
    if (buffered !== '') out(buffered);
    buffered = '';
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
