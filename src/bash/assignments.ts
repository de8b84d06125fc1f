import type { MappedText } from './mapped-text.ts';
import type { CommandList, InnerNode } from './parse.ts';
import { isSimple, readSimpleCommand } from './simple-command.ts';
import { type CommandContext, listCommands } from './walk.ts';
import { readWord, type WordText } from './word.ts';

/** An assignment of one of these values to a variable. */
export interface Assignment {
  readonly variable: string;
  readonly values: readonly MappedText[];
  readonly context: CommandContext;
  /** Whether the variable belongs to its function. */
  readonly local: boolean;
}

/** A call of a function, or of any other command. */
export interface CommandCall {
  readonly name: string;
  readonly args: readonly WordText[];
  readonly context: CommandContext;
}

/** All that happens to the variables of a script. */
export interface ShellVariables {
  readonly assignments: readonly Assignment[];
  readonly calls: readonly CommandCall[];
  /** Variables with values that the script does not show: they are read from somewhere, counted or unset. */
  readonly untracked: ReadonlySet<string>;
  /** The values that variables are compared with. */
  readonly comparisons: readonly VariableComparison[];
  /** Whether anything may have happened to any variable. */
  readonly allUntracked: boolean;
}

/** A comparison of a variable with a value, in a function or outside of all. */
export interface VariableComparison {
  readonly variable: string;
  readonly value: string;
  readonly functionName: string | null;
}

/** Commands that declare variables. */
const DECLARATION_COMMANDS = new Set(['local', 'declare', 'typeset', 'export', 'readonly']);

/** Commands to which the name of a variable is only a word. */
const LITERAL_ARGUMENT_COMMANDS = new Set(['echo', 'printf', 'cat', '[', '[[', 'test', ...DECLARATION_COMMANDS]);

/** Finds where the variables of a script get their values. */
export function trackShellVariables(script: CommandList, text: string): ShellVariables {
  const assignments: Assignment[] = [];
  const calls: CommandCall[] = [];
  const comparisons: VariableComparison[] = [];
  const untracked = new Set(findArithmeticVariables(text));
  for (const { node, context } of listCommands(script)) {
    assignments.push(...loopAssignment(node, context));
    for (const comparison of findComparisons(node))
      comparisons.push({ ...comparison, functionName: context.functionName });
    if (!isSimple(node)) continue;
    const command = readSimpleCommand(node);
    const { name, args } = command;
    const local = DECLARATION_COMMANDS.has(name) && name !== 'export' && context.functionName !== null;
    for (const { variable, values, modifies } of command.assignments) {
      if (modifies) untracked.add(variable);
      else assignments.push({ variable, values, context, local });
    }
    calls.push({ name, args, context });
    const mayModifyArguments = !LITERAL_ARGUMENT_COMMANDS.has(name) || args[0]?.text === '-v' || args[0]?.text === '-n';
    for (const { text: arg } of mayModifyArguments ? args : []) if (/^\w+$/.test(arg)) untracked.add(arg);
  }
  return {
    assignments,
    calls,
    untracked,
    comparisons,
    allUntracked: calls.some(({ name }) => ['eval', 'source', '.'].includes(name)),
  };
}

/** A `for` gives one item after the other to its variable. */
function loopAssignment(node: InnerNode, context: CommandContext): readonly Assignment[] {
  if (node.type !== 'For' && node.type !== 'Select') return [];
  const enclosingLists = [...context.enclosingLists, node.body.commands];
  const inside = { ...context, enclosingLists, unconditional: true };
  return [{ variable: node.name.text, values: node.wordlist?.map(readWord) ?? [], context: inside, local: false }];
}

/** The variables that are counted with, or get a value where they are used. */
function findArithmeticVariables(text: string): readonly string[] {
  const expressions = [...text.matchAll(/\(\(([\s\S]*?)\)\)|\blet\s+(.*)/g)].map(
    ([, inner, rest]) => inner ?? rest ?? '',
  );
  // A variable behind a `$` is only read.
  const names = expressions.flatMap((each) => each.replace(/\$(?:\{[^}]*\}|\w+)/g, '').match(/[a-z_]\w*/gi) ?? []);
  return [...names, ...[...text.matchAll(/\$\{(\w+):?=/g)].map(([, name = '']) => name)];
}

/** The values that a test or a `case` compares variables with. */
function findComparisons(node: InnerNode): readonly Omit<VariableComparison, 'functionName'>[] {
  const [tested, operands] = findOperands(node);
  const variables = tested.flatMap(({ placeholders }) => placeholders.map(({ variable }) => variable));
  return variables.flatMap((variable) => operands.map(({ text }) => ({ variable, value: text })));
}

function findOperands(node: InnerNode): readonly [tested: readonly WordText[], operands: readonly WordText[]] {
  if (node.type === 'Case') return [[readWord(node.word)], node.items.flatMap(({ pattern }) => pattern.map(readWord))];
  const command = isSimple(node) ? readSimpleCommand(node) : null;
  return command !== null && ['[', '[[', 'test'].includes(command.name) ? [command.args, command.args] : [[], []];
}
