import { EXIT, RaymondError } from '../errors.ts';

/** The most characters that can be said at once. */
const MAX_WORDS_CHARS = 200_000;

// Control characters, but for line breaks and tabs, and halves of characters.
const UNUSABLE_CHARACTERS = /[^\P{Cc}\n\t]|\p{Cs}/gu;

/** A text as it is said to an agent, without control characters. Throws if there is nothing to say, or far too much. */
export function toMessageText(text: string): string {
  const words = text.replaceAll(/\r\n?/g, '\n').replaceAll(UNUSABLE_CHARACTERS, '').trim();
  if (words === '')
    throw new RaymondError('there is nothing to say: the text is empty', {
      exitCode: EXIT.usage,
      hint: 'Write it after the run, or - to read it from stdin.',
    });
  if (words.length > MAX_WORDS_CHARS)
    throw new RaymondError(`the text has ${words.length} characters, and ${MAX_WORDS_CHARS} can be said at once`, {
      exitCode: EXIT.usage,
      hint: 'Put it into a file, and tell the agent where that is.',
    });
  return words;
}

/** The error about a run in which nobody is left who could hear anything. */
export const endedRunError = (run: string): RaymondError =>
  new RaymondError(`the run ${run} has ended: nobody is left to talk to`, {
    exitCode: EXIT.usage,
    hint: `\`raymond logs ${run}\` shows what happened.`,
  });
