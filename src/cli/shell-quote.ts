/** A word as a shell takes it for one. */
export const quoteShellArgument = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
