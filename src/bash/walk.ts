import { memoize } from '../language/text/memoize.ts';
import { readCommandOutput, redirectsStdout } from './command-output.ts';
import {
  type CommandList,
  type InnerNode,
  innerCommand,
  pipelineCommands,
  pipelinesOf,
  type ShellNode,
} from './parse.ts';
import { isSimple, readSimpleCommand, redirectsOf, type SimpleCommand } from './simple-command.ts';
import { readWord } from './word.ts';

/** The surroundings of a command. */
export interface CommandContext {
  /** True if its output reaches the standard output of the script, or the next command of a pipeline. */
  readonly keepsStdout: boolean;
  /** True if its output goes to another command of a pipeline. */
  readonly piped: boolean;
  /** True if it, or something around it, copies an output to a number of its own, as in `{ … >&3; } 3>&1`. */
  readonly duplicatesOutput: boolean;
  /** The function that contains it, if any. */
  readonly functionName: string | null;
  /** Its number, in the order of the script. */
  readonly order: number;
  /** The lists that contain it, the innermost last. */
  readonly enclosingLists: readonly CommandList[];
  /** True if it is run whenever the commands before it in the innermost list have been run. */
  readonly unconditional: boolean;
  /** The commands that contain it, and itself; not those around its function. */
  readonly ancestors: readonly InnerNode[];
  /** The commands before it, and before those around it, in chains of `&&` and `||`. */
  readonly preceding: readonly ShellNode[];
}

/** A command of any kind and its surroundings. */
export interface PlacedNode {
  readonly node: InnerNode;
  readonly context: CommandContext;
}

/** A simple command and its surroundings. */
export interface PlacedCommand {
  readonly command: SimpleCommand;
  readonly context: CommandContext;
}

/** Lists every command of a script in order, however deep it is nested. */
export const listCommands = memoize((script: CommandList): readonly PlacedNode[] => {
  const found: PlacedNode[] = [];
  visitList(script, TOP_LEVEL, found);
  return found;
});

/** Lists the simple commands of a script in order, however deep they are nested. */
export const listSimpleCommands = memoize((script: CommandList): readonly PlacedCommand[] =>
  listCommands(script).flatMap(({ node, context }) =>
    isSimple(node) ? { command: readSimpleCommand(node), context } : [],
  ),
);

/** Lists the simple commands in some commands. */
export function listSimpleCommandsIn(nodes: readonly ShellNode[]): readonly SimpleCommand[] {
  const found: PlacedNode[] = [];
  for (const node of nodes) visitCommand(node, TOP_LEVEL, found);
  return found.flatMap(({ node }) => (isSimple(node) ? readSimpleCommand(node) : []));
}

/** Finds the commands that print a tag or might, those that contain such a command, and calls of functions that print. */
export function findPrintingCommands(script: CommandList): ReadonlySet<InnerNode> {
  const found = new Set<InnerNode>();
  const functions = new Set<string | null>();
  const visible = listSimpleCommands(script).filter(({ context }) => context.keepsStdout);
  const isPrinting = ({ command }: PlacedCommand): boolean => {
    const { tags, unclosedTags, mayPrintUnknown } = readCommandOutput(command);
    return tags.length > 0 || unclosedTags.length > 0 || mayPrintUnknown || functions.has(command.name);
  };
  let known: number;
  do {
    known = found.size;
    for (const { context } of visible.filter(isPrinting)) {
      functions.add(context.functionName);
      for (const command of context.ancestors) found.add(command);
    }
  } while (found.size > known);
  return found;
}

/** Finds the commands whose output certainly is output of the script, whenever they are run. */
export function findStdoutCommands(commands: readonly PlacedCommand[]): ReadonlySet<PlacedCommand> {
  if (rearrangesOutput(commands)) return new Set();
  const reaching = commands.filter(({ context }) => context.keepsStdout && !context.piped);
  const functions = findFunctionsReachingStdout(reaching);
  return new Set(
    reaching.filter(({ context }) => context.functionName === null || functions.has(context.functionName)),
  );
}

/** True if a script redirects its own streams, so that it is unknown where its output goes. */
export const rearrangesOutput = (commands: readonly PlacedCommand[]): boolean =>
  commands.some(({ command, context }) => context.duplicatesOutput || redirectsLaterOutput(command));

/** True if a command changes where the output of all later ones goes, as `exec 3>&1 1>&2` does. */
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

const TOP_LEVEL: CommandContext = {
  order: 0,
  keepsStdout: true,
  piped: false,
  duplicatesOutput: false,
  functionName: null,
  enclosingLists: [],
  unconditional: true,
  ancestors: [],
  preceding: [],
};

function visitList(list: CommandList, parent: CommandContext, found: PlacedNode[]): void {
  const enclosingLists = [...parent.enclosingLists, list];
  for (const statement of list) {
    let { preceding } = parent;
    for (const [position, pipeline] of pipelinesOf(statement).commands.entries()) {
      const commands = pipelineCommands(pipeline);
      const unconditional = position === 0 && commands.length === 1;
      for (const [index, node] of commands.entries()) {
        const piped = parent.piped || index < commands.length - 1;
        visitCommand(node, { ...parent, enclosingLists, unconditional, piped, preceding }, found);
      }
      preceding = [...preceding, ...commands];
    }
  }
}

function visitCommand(node: ShellNode, parent: CommandContext, found: PlacedNode[]): void {
  const redirects = redirectsOf(node);
  const command = innerCommand(node);
  const context = {
    ...parent,
    order: found.length,
    duplicatesOutput:
      parent.duplicatesOutput ||
      redirects.some(({ operator, descriptor }) => operator === '>&' && Number(descriptor) > 2),
    keepsStdout: parent.keepsStdout && !redirectsStdout(redirects),
    ancestors: [...parent.ancestors, command],
  };
  found.push({ node: command, context });
  if (command.type === 'Function') {
    const functionName = readWord(command.name).text;
    visitCommand(command.body, { ...context, functionName, enclosingLists: [], ancestors: [], preceding: [] }, found);
  } else if (command.type === 'Coproc') visitCommand(command.body, { ...context, keepsStdout: false }, found);
  else for (const list of listsIn(command)) visitList(list, context, found);
}

function listsIn(command: InnerNode): readonly CommandList[] {
  switch (command.type) {
    case 'If': {
      const arms = [command, ...command.elif].flatMap(({ clause, then }) => [clause.commands, then.commands]);
      return [...arms, command.else?.commands ?? []];
    }
    case 'Case':
      return command.items.map(({ body }) => body.commands);
    case 'While':
      return [command.clause.commands, command.body.commands];
    case 'For':
    case 'ArithmeticFor':
    case 'Select':
    case 'BraceGroup':
    case 'Subshell':
      return [command.body.commands];
    case 'CompoundList':
      return [command.commands];
    default:
      return [];
  }
}
