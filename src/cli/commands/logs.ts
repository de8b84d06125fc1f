import { EXIT } from '../../errors.ts';
import { sanitize } from '../../events/sanitize.ts';
import { writeLogs } from '../../runtime/logs.ts';
import type { CommandHandler } from '../command.ts';
import { getTextOption } from '../parsed-options.ts';

/** `raymond logs [RUN]`: the readable story of a run. */
export const handleLogs: CommandHandler = async ([requestedRun = 'last'], options, { out, err, cwd, screen }) => {
  const { stdout } = process;
  const readerGone = new AbortController();
  // Whoever reads may leave: the rest of a long story would be told to nobody.
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
      colour: screen?.colour === true && stdout.isTTY === true,
      // Only a terminal can be driven: a file or a program gets the lines as they are.
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

/** Writes much at a time, for each call costs, but lets nothing wait. */
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
