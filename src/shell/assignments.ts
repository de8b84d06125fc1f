import { UNKNOWN } from '../core/tag-mentions.ts';
import { splitCommandWords } from './command-output.ts';
import { tokenize } from './lexer.ts';
import { type MappedText, sliceMappedText, toSourceOffset } from './mapped-text.ts';
import type { CommandList, ShellCommand } from './syntax-tree.ts';
import { type CommandContext, walkCommands } from './walk.ts';
import { type Word, WordReader } from './word.ts';

/** A variable gets one of these values. */
export interface Assignment {
  readonly variable: string;
  readonly values: readonly MappedText[];
  readonly context: CommandContext;
  /** Whether it is seen in its function only. */
  readonly local: boolean;
}

/** A call of a function, or of any other command. */
export interface CommandCall {
  readonly name: string;
  readonly args: readonly Word[];
  readonly context: CommandContext;
}

/** What happens to the variables of a script. */
export interface ShellVariables {
  readonly assignments: readonly Assignment[];
  readonly calls: readonly CommandCall[];
  /** Variables whose values do not stand in the script: read from somewhere, counted, unset. */
  readonly untracked: ReadonlySet<string>;
  /** The values that variables are compared with. */
  readonly comparisons: readonly VariableComparison[];
  /** Whether anything may have happened to any variable. */
  readonly allUntracked: boolean;
}

/** A variable is compared with a value, in a function or none. */
export interface VariableComparison {
  readonly variable: string;
  readonly value: string;
  readonly within: string | null;
}

/** Commands that give values to the variables that they name. */
const DECLARATION_COMMANDS = new Set(['local', 'declare', 'typeset', 'export', 'readonly']);

/** Commands to which the name of a variable is only a word. */
const LITERAL_ARGUMENT_COMMANDS = new Set(['echo', 'printf', 'cat', '[', '[[', 'test', ...DECLARATION_COMMANDS]);

/** Looks where the variables of a script get their values. */
export function trackShellVariables(script: CommandList, text: string): ShellVariables {
  const assignments: Assignment[] = [];
  const calls: CommandCall[] = [];
  const comparisons: VariableComparison[] = [];
  const untracked = new Set(findArithmeticVariables(text));
  walkCommands(script, ({ command }, context) => {
    assignments.push(...loopAssignment(command, context));
    for (const comparison of findComparisons(command))
      comparisons.push({ ...comparison, within: context.functionName });
    if (command.kind !== 'simple') return;
    const { name, args } = splitCommandWords(command.words);
    const declares = DECLARATION_COMMANDS.has(name);
    const local = declares && name !== 'export' && context.functionName !== null;
    const assignmentWords = declares ? args : command.words.slice(0, command.words.length - args.length);
    for (const word of assignmentWords) {
      const [start, variable = '', modifier] = /^(\w+)(\+|\[[^\]]*\])?=/.exec(word.text) ?? [];
      if (modifier !== undefined) untracked.add(variable);
      else if (start !== undefined) {
        const value = sliceMappedText(word, start.length);
        assignments.push({ variable, values: readArrayItems(value, text) ?? [value], context, local });
      }
    }
    calls.push({ name, args, context });
    const mayModifyArguments = !LITERAL_ARGUMENT_COMMANDS.has(name) || args[0]?.text === '-v' || args[0]?.text === '-n';
    for (const { text: arg } of mayModifyArguments ? args : []) if (/^\w+$/.test(arg)) untracked.add(arg);
  });
  return {
    assignments,
    calls,
    untracked,
    comparisons,
    allUntracked: calls.some(({ name }) => ['eval', 'source', '.'].includes(name)),
  };
}

/** A `for` gives one item after the other to its variable. */
function loopAssignment(command: ShellCommand, context: CommandContext): readonly Assignment[] {
  if (command.kind !== 'loop' || command.forClause === null) return [];
  const { variable, items } = command.forClause;
  const inside = { ...context, enclosingLists: [...context.enclosingLists, command.body], unconditional: true };
  return [{ variable, values: items ?? [], context: inside, local: false }];
}

/** The variables that are counted with, or get a value where they are used. */
function findArithmeticVariables(text: string): readonly string[] {
  const expressions = [...text.matchAll(/\(\(([\s\S]*?)\)\)|\blet\s+(.*)/g)].map(
    ([, inner, rest]) => inner ?? rest ?? '',
  );
  // What stands behind a `$` is only read.
  const names = expressions.flatMap((each) => each.replace(/\$(?:\{[^}]*\}|\w+)/g, '').match(/[a-z_]\w*/gi) ?? []);
  return [...names, ...[...text.matchAll(/\$\{(\w+):?=/g)].map(([, name = '']) => name)];
}

/** The items of a list in brackets, `(A B)`; undefined for any other value. */
function readArrayItems(value: MappedText, script: string): readonly MappedText[] | undefined {
  const open = toSourceOffset(value, 0);
  if (value.text !== UNKNOWN || script[open] !== '(') return undefined;
  const end = new WordReader(script).closing(open, '(', ')');
  const tokens = end === undefined ? undefined : tokenize(script.slice(0, end - 1), open + 1);
  const words = tokens?.filter((token) => token.kind === 'word') ?? [];
  // An item may have a key: `[bug]=FIX.md`.
  return words.map((word) => sliceMappedText(word, /^\[[^\]]*\]=/.exec(word.text)?.[0].length ?? 0));
}

/** What is compared with the value of a variable in a test or a `case`. */
function findComparisons(command: ShellCommand): readonly Omit<VariableComparison, 'within'>[] {
  const words = command.kind === 'simple' ? command.words : [];
  const [tested, operands] =
    command.kind === 'case'
      ? [command.word === null ? [] : [command.word], command.arms.flatMap(({ patterns }) => patterns)]
      : [words, ['[', '[[', 'test'].includes(splitCommandWords(words).name) ? words : []];
  const variables = tested.flatMap(({ placeholders }) => placeholders.map(({ variable }) => variable));
  return variables.flatMap((variable) => operands.map(({ text }) => ({ variable, value: text })));
}
