import { splitCommandWords } from './command-output.ts';
import type { SimpleCommand } from './walk.ts';

/** The lines whose output surely is the output of the script, whenever they are run. */
export function findStdoutCommands(commands: readonly SimpleCommand[]): ReadonlySet<SimpleCommand> {
  if (rearrangesOutput(commands)) return new Set();
  const functionsReachingStdout = findFunctionsReachingStdout(commands.filter(reachesStdout));
  return new Set(
    commands.filter(
      (command) =>
        reachesStdout(command) && (command.functionName === null || functionsReachingStdout.has(command.functionName)),
    ),
  );
}

/** Whether a script plays with its outputs so that nobody can say where they go. */
export const rearrangesOutput = (commands: readonly SimpleCommand[]): boolean =>
  commands.some((command) => command.duplicatesOutput || redirectsLaterOutput(command));

/** Whether a command changes where the output of all later ones goes, as `exec 3>&1 1>&2` does. */
function redirectsLaterOutput({ words, redirects }: SimpleCommand): boolean {
  const { name, args } = splitCommandWords(words);
  if (name !== 'exec' || args.some(({ text }) => !/^\{\w+\}$/.test(text))) return false;
  return redirects.some(({ op, fd, to }) => {
    return /&/.test(op) || to.text.startsWith('/dev/') || (op.includes('>') && (fd === '' || fd === '1'));
  });
}

const reachesStdout = ({ keepsStdout, piped }: SimpleCommand): boolean => keepsStdout && !piped;

/** The functions that are called where their output is heard; a call may be captured or sent away instead. */
function findFunctionsReachingStdout(commands: readonly SimpleCommand[]): ReadonlySet<string> {
  const calls = new Map<string | null, Set<string>>();
  for (const { words, functionName } of commands) {
    const names = calls.get(functionName) ?? new Set();
    calls.set(functionName, names.add(splitCommandWords(words).name));
  }
  const reaching = new Set<string>(calls.get(null));
  // A set that grows is walked to its new end.
  for (const name of reaching) for (const each of calls.get(name) ?? []) reaching.add(each);
  return reaching;
}
