import { readCommandOutput, redirectsStdout } from './command-output.ts';
import { type CommandList, commandsOf, type InnerNode, innerCommand, pipelinesOf, type ShellNode } from './parse.ts';
import { isSimple, readSimpleCommand, redirectsOf, type SimpleCommand } from './simple-command.ts';
import { readWord } from './word.ts';

/** The surroundings of a command. */
export interface CommandContext {
  /** Whether its output reaches the standard output of the script, or the next command of a pipeline. */
  readonly keepsStdout: boolean;
  /** Whether its output goes to another command of a pipeline. */
  readonly piped: boolean;
  /** Whether it, or something around it, copies an output to a number of its own, as in `{ … >&3; } 3>&1`. */
  readonly duplicatesOutput: boolean;
  /** The function in which it stands, if any. */
  readonly functionName: string | null;
  /** Its number, in the order of the script. */
  readonly order: number;
  /** The lists in which it stands, the innermost last. */
  readonly enclosingLists: readonly CommandList[];
  /** Whether it is run whenever the commands before it in the innermost list have been run. */
  readonly unconditional: boolean;
  /** The commands in which it stands, and itself; not those around the function in which it stands. */
  readonly ancestors: readonly InnerNode[];
  /** The commands before it, and before those around it, in chains of `&&` and `||`. */
  readonly preceding: readonly ShellNode[];
}

/** A simple command and its surroundings. */
export interface PlacedCommand {
  readonly command: SimpleCommand;
  readonly context: CommandContext;
}

/** Lists the simple commands of a script in order, however deep they stand in it. */
export function listSimpleCommands(script: CommandList): readonly PlacedCommand[] {
  const known = LIST_CACHE.get(script);
  if (known !== undefined) return known;
  const commands: PlacedCommand[] = [];
  walkCommands(script, (node, context) => {
    if (isSimple(node)) commands.push({ command: readSimpleCommand(node), context });
  });
  LIST_CACHE.set(script, commands);
  return commands;
}

/** The tests of a script are asked for by every command that depends on them. */
const LIST_CACHE = new WeakMap<CommandList, readonly PlacedCommand[]>();

/** Lists the simple commands in some commands. */
export function listSimpleCommandsIn(nodes: readonly ShellNode[]): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  for (const each of nodes) {
    visitCommand(each, TOP_LEVEL, (node) => {
      if (isSimple(node)) commands.push(readSimpleCommand(node));
    });
  }
  return commands;
}

/** Finds the commands that print a tag or might, those in which such a command stands, and calls of functions that print. */
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

type CommandVisitor = (node: InnerNode, context: CommandContext) => void;

/** Visits every command of a script, from its beginning to its end. */
export function walkCommands(script: CommandList, visitor: CommandVisitor): void {
  let order = 0;
  visitList(script, TOP_LEVEL, (node, context) => visitor(node, { ...context, order: order++ }));
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

function visitList(list: CommandList, parent: CommandContext, visitor: CommandVisitor): void {
  const enclosingLists = [...parent.enclosingLists, list];
  for (const statement of list) {
    let { preceding } = parent;
    for (const [position, pipeline] of pipelinesOf(statement).commands.entries()) {
      const commands = commandsOf(pipeline);
      const unconditional = position === 0 && commands.length === 1;
      for (const [index, node] of commands.entries()) {
        const piped = parent.piped || index < commands.length - 1;
        visitCommand(node, { ...parent, enclosingLists, unconditional, piped, preceding }, visitor);
      }
      preceding = [...preceding, ...commands];
    }
  }
}

function visitCommand(node: ShellNode, parent: CommandContext, visitor: CommandVisitor): void {
  const redirects = redirectsOf(node);
  const command = innerCommand(node);
  const context = {
    ...parent,
    duplicatesOutput:
      parent.duplicatesOutput ||
      redirects.some(({ operator, descriptor }) => operator === '>&' && Number(descriptor) > 2),
    keepsStdout: parent.keepsStdout && !redirectsStdout(redirects),
    ancestors: [...parent.ancestors, command],
  };
  visitor(command, context);
  if (command.type === 'Function') {
    const functionName = readWord(command.name).text;
    visitCommand(command.body, { ...context, functionName, enclosingLists: [], ancestors: [], preceding: [] }, visitor);
  } else if (command.type === 'Coproc') visitCommand(command.body, { ...context, keepsStdout: false }, visitor);
  else for (const list of listsIn(command)) visitList(list, context, visitor);
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
