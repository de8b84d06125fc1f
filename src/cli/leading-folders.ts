/** Splits off the folders of `-C` that stand before the command, as in `raymond -C DIR list`. */
export function splitLeadingFolders(argv: readonly string[]): {
  readonly folders: readonly string[];
  readonly words: readonly string[];
} {
  const [first = '', second, ...rest] = argv;
  if (first !== '-C' || second === undefined) return { folders: [], words: argv };
  const { folders, words } = splitLeadingFolders(rest);
  return { folders: [second, ...folders], words };
}
