import { readCommandOutput, redirectsStdout, splitCommandWords } from './command-output.ts';
import type { CommandList, CommandNode, Redirect, ShellCommand } from './syntax-tree.ts';
import type { Word } from './word.ts';

/** Where a command stands. */
export interface CommandContext {
  /** Whether what it prints reaches the standard output or the next command of a pipeline. */
  readonly keepsStdout: boolean;
  /** Whether it is the next command of a pipeline that reads it. */
  readonly piped: boolean;
  /** Whether it, or something around it, copies an output to a number of its own, as in `{ … >&3; } 3>&1`. */
  readonly duplicatesOutput: boolean;
  /** The function in which it stands, if any. */
  readonly functionName: string | null;
  /** Its number, in the order of the script. */
  readonly order: number;
  /** The lists in which it stands, the innermost last. */
  readonly enclosingLists: readonly CommandList[];
  /** Whether it is run whenever the innermost list is gone through to there. */
  readonly unconditional: boolean;
  /** The commands in which it stands, up to itself; those around a function are none of its own. */
  readonly ancestors: readonly ShellCommand[];
  /** The commands before it, and before those around it, in chains of `&&` and `||`. */
  readonly preceding: readonly CommandNode[];
}

/** A simple command of a script, wherever it stands in it. */
export interface SimpleCommand extends CommandContext {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
}

/** Every simple command of a script, in order. */
export function listSimpleCommands(script: CommandList): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  walkCommands(script, ({ command, redirects }, context) => {
    if (command.kind === 'simple') commands.push({ words: command.words, redirects, ...context });
  });
  return commands;
}

/** The commands that print a tag, or might, those in which such a one stands, and calls of functions that do. */
export function findPrintingCommands(script: CommandList): ReadonlySet<ShellCommand> {
  const found = new Set<ShellCommand>();
  const functions = new Set<string | null>();
  const visible = listSimpleCommands(script).filter((command) => command.keepsStdout);
  const isPrinting = ({ words, redirects }: SimpleCommand): boolean => {
    const { tags, halves, mayPrintUnknown } = readCommandOutput(words, redirects);
    return tags.length > 0 || halves.length > 0 || mayPrintUnknown || functions.has(splitCommandWords(words).name);
  };
  let known: number;
  do {
    known = found.size;
    for (const printingCommand of visible.filter(isPrinting)) {
      functions.add(printingCommand.functionName);
      for (const command of printingCommand.ancestors) found.add(command);
    }
  } while (found.size > known);
  return found;
}

type CommandVisitor = (node: CommandNode, context: CommandContext) => void;

/** Shows every command of a script, from its beginning to its end. */
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
  for (const { first, rest } of list) {
    let { preceding } = parent;
    for (const pipeline of [first, ...rest.map((each) => each.pipeline)]) {
      const { commands } = pipeline;
      const unconditional = pipeline === first && commands.length === 1;
      for (const [index, node] of commands.entries()) {
        const piped = parent.piped || index < commands.length - 1;
        visitCommand(node, { ...parent, enclosingLists, unconditional, piped, preceding }, visitor);
      }
      preceding = [...preceding, ...commands];
    }
  }
}

function visitCommand(node: CommandNode, parent: CommandContext, visitor: CommandVisitor): void {
  const { command, redirects } = node;
  const context = {
    ...parent,
    duplicatesOutput: parent.duplicatesOutput || redirects.some(({ op, fd }) => op === '>&' && Number(fd) > 2),
    keepsStdout: parent.keepsStdout && !redirectsStdout(redirects),
    ancestors: [...parent.ancestors, command],
  };
  visitor(node, context);
  if (command.kind === 'function')
    visitCommand(
      command.body,
      { ...context, functionName: command.name, enclosingLists: [], ancestors: [], preceding: [] },
      visitor,
    );
  else if (command.kind !== 'simple') for (const list of listBodies(command)) visitList(list, context, visitor);
}

function listBodies(command: Exclude<ShellCommand, { kind: 'simple' | 'function' }>): readonly CommandList[] {
  switch (command.kind) {
    case 'if':
      return [...command.arms.flatMap(({ test, body }) => [test, body]), command.elseBody ?? []];
    case 'case':
      return command.arms.map(({ body }) => body);
    case 'loop':
      return [command.test, command.body];
    case 'group':
      return [command.body];
  }
}
