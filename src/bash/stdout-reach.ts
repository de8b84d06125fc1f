import type { SimpleCommand } from './simple-command.ts';
import type { PlacedCommand } from './walk.ts';

/** Finds the commands whose output certainly is output of the script, whenever they are run. */
export function findStdoutCommands(commands: readonly PlacedCommand[]): ReadonlySet<PlacedCommand> {
  if (rearrangesOutput(commands)) return new Set();
  const reaching = commands.filter(({ context }) => context.keepsStdout && !context.piped);
  const functions = findFunctionsReachingStdout(reaching);
  return new Set(
    reaching.filter(({ context }) => context.functionName === null || functions.has(context.functionName)),
  );
}

/** Whether a script redirects its own streams, so that it is unknown where its output goes. */
export const rearrangesOutput = (commands: readonly PlacedCommand[]): boolean =>
  commands.some(({ command, context }) => context.duplicatesOutput || redirectsLaterOutput(command));

/** Whether a command changes where the output of all later ones goes, as `exec 3>&1 1>&2` does. */
function redirectsLaterOutput({ name, args, redirects }: SimpleCommand): boolean {
  if (name !== 'exec' || args.length > 0) return false;
  return redirects.some(
    ({ operator, descriptor, target }) =>
      /&/.test(operator) ||
      target.text.startsWith('/dev/') ||
      (operator.includes('>') && (descriptor === '' || descriptor === '1')),
  );
}

/** The functions that are called where their output is that of the script; other calls may be captured or redirected. */
function findFunctionsReachingStdout(commands: readonly PlacedCommand[]): ReadonlySet<string> {
  const calls = new Map<string | null, Set<string>>();
  for (const { command, context } of commands) {
    const names = calls.get(context.functionName) ?? new Set();
    calls.set(context.functionName, names.add(command.name));
  }
  const reaching = new Set<string>(calls.get(null));
  // Iterating over a set also visits what is added meanwhile.
  for (const name of reaching) for (const each of calls.get(name) ?? []) reaching.add(each);
  return reaching;
}
