/** The command that starts this very Raymond, and its first arguments. */
export const thisCommand = (): readonly [string, ...string[]] => [
  process.execPath,
  ...process.execArgv,
  process.argv[1] ?? '',
];
