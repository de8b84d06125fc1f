import { UNKNOWN } from '../language/tags/tag-mentions.ts';
import { type MappedText, type Placeholder, replaceCharacter } from './mapped-text.ts';
import type { CommandList, InnerNode } from './parse.ts';
import { isSimple, isTestCommand, readSimpleCommand } from './simple-command.ts';
import { type CommandContext, listCommands, listSimpleCommands, type PlacedCommand, type PlacedNode } from './walk.ts';
import { readWord } from './word.ts';

/** The texts that a text with variables in it can become, and whether those are all. */
export interface FilledTexts {
  readonly texts: readonly MappedText[];
  readonly isComplete: boolean;
}

/** An assignment of one of these values to a variable. */
interface Assignment {
  readonly variable: string;
  readonly values: readonly MappedText[];
  readonly context: CommandContext;
  /** True if the variable belongs to its function. */
  readonly local: boolean;
}

const UNFILLED: FilledTexts = { texts: [], isComplete: false };

/** More texts than a script chooses from. */
const MAX_TEXTS = 32;

/** Values that come out of other variables are followed to this depth. */
const MAX_DEPTH = 6;

/** Characters with which an unquoted value is expanded further. */
const PATTERN = /[*?[\]{}~]/;

/** The values of the variables of a script, as far as it shows them. */
export class VariableValues {
  private readonly assignments: readonly Assignment[];
  private readonly commands: readonly PlacedCommand[];
  /** Variables with values that the script does not show: they are read from somewhere, counted or unset. */
  private readonly untracked: ReadonlySet<string>;
  /** True if anything may have happened to any variable. */
  private readonly allUntracked: boolean;
  /** The values that something is compared with: one of them may never get to where it would be printed. */
  private readonly testedValues: ReadonlySet<string>;
  private depth = 0;

  constructor(script: CommandList, text: string) {
    this.assignments = listCommands(script).flatMap(findAssignments);
    this.commands = listSimpleCommands(script);
    this.testedValues = new Set(listCommands(script).flatMap(findTestedValues));
    this.untracked = new Set([...findArithmeticVariables(text), ...this.commands.flatMap(findModifiedVariables)]);
    this.allUntracked = this.commands.some(({ command: { name } }) => ['eval', 'source', '.'].includes(name));
  }

  /** Puts values in the place of the variables of a text; a variable whose values are not known stays as it is. */
  fill(text: MappedText, context: CommandContext): FilledTexts {
    if (text.placeholders.length === 0 || this.allUntracked || this.depth >= MAX_DEPTH) return UNFILLED;
    this.depth += 1;
    const filled = text.placeholders.some(isArgument) ? this.fillByCalls(text, context) : this.fillAll(text, context);
    this.depth -= 1;
    return filled;
  }

  /** Lists all values that a variable ever gets in the script; null if they are not all known. */
  allValuesOf(variable: string | null): readonly string[] | null {
    const { assignments, untracked, allUntracked } = this;
    const own = assignments.filter((each) => each.variable === variable);
    const values = own.flatMap((each) => each.values);
    const isKnown = values.length > 0 && own.every((each) => each.values.length > 0) && values.every(isPlain);
    return variable === null || allUntracked || untracked.has(variable) || !isKnown
      ? null
      : values.map(({ text }) => text);
  }

  /** The arguments of one call belong together. */
  private fillByCalls(text: MappedText, context: CommandContext): FilledTexts {
    const { functionName } = context;
    const shiftsArguments = this.commands.some(
      (each) => each.context.functionName === functionName && ['shift', 'set'].includes(each.command.name),
    );
    if (functionName === null || shiftsArguments) return UNFILLED;
    const calls = this.commands.filter(({ command }) => command.name === functionName);
    return joinFilled(calls.map((call) => this.fillAll(text, context, call)));
  }

  private fillAll(text: MappedText, context: CommandContext, call?: PlacedCommand): FilledTexts {
    let filled: FilledTexts = { texts: [text], isComplete: true };
    for (const placeholder of uniquePlaceholders(text.placeholders)) {
      const { texts, isComplete } = this.valuesOf(placeholder, context, call);
      // Two choices may depend on each other.
      const isChoice = texts.length > 1 && filled.texts.length > 1;
      if (isChoice || filled.texts.length * texts.length > MAX_TEXTS) return UNFILLED;
      const substitute = (value: MappedText): readonly MappedText[] =>
        filled.texts.map((partlyFilled) => substituteVariable(partlyFilled, placeholder, value));
      filled = {
        texts: texts.length === 0 ? filled.texts : texts.flatMap(substitute),
        isComplete: isComplete && filled.isComplete,
      };
    }
    return { texts: filled.texts.filter((filledText) => filledText !== text), isComplete: filled.isComplete };
  }

  private valuesOf({ variable, defaultText }: Placeholder, context: CommandContext, call?: PlacedCommand): FilledTexts {
    const { texts, isComplete } = isArgument({ variable })
      ? this.argumentTexts(variable, call)
      : this.assignedTexts(variable, context);
    const remaining = texts.filter(({ text }) => !this.testedValues.has(text));
    return {
      texts: defaultText === null ? remaining : [...remaining, defaultText],
      isComplete: isComplete && remaining.length === texts.length,
    };
  }

  private argumentTexts(variable: string, call: PlacedCommand | undefined): FilledTexts {
    const word = call?.command.args[Number(variable) - 1];
    return call === undefined || word === undefined ? UNFILLED : this.valueTexts(word, call.context);
  }

  private assignedTexts(variable: string, context: CommandContext): FilledTexts {
    const { assignments, untracked } = this;
    const reaching = findReachingAssignments(
      assignments.filter((each) => each.variable === variable),
      context,
    );
    if (reaching.length === 0 || untracked.has(variable)) return UNFILLED;
    const filled = reaching.flatMap((each) =>
      each.values.length === 0
        ? UNFILLED
        : each.values.filter(isNonEmpty).map((value) => this.valueTexts(value, each.context)),
    );
    // One value that is not known may continue from the others, as in counting.
    if (filled.some(({ texts }) => texts.length === 0)) return UNFILLED;
    return joinFilled(filled);
  }

  /** The texts that a value can become. */
  private valueTexts(value: MappedText, context: CommandContext): FilledTexts {
    if (isPlain(value)) return { texts: [value], isComplete: true };
    const { texts, isComplete } = this.fill(value, context);
    const plain = texts.filter(isPlain);
    return { texts: plain, isComplete: isComplete && plain.length === texts.length };
  }
}

/** Unites alternatives, which are complete if each of them is. */
const joinFilled = (all: readonly FilledTexts[]): FilledTexts => ({
  texts: all.flatMap(({ texts }) => texts),
  isComplete: all.length > 0 && all.every(({ isComplete }) => isComplete),
});

const isArgument = ({ variable }: Pick<Placeholder, 'variable'>): boolean => /^[1-9]$/.test(variable);

const isPlain = ({ text }: MappedText): boolean => !text.includes(UNKNOWN) && !PATTERN.test(text);

/** An empty value is not meant to be printed. */
const isNonEmpty = ({ text }: MappedText): boolean => text !== '';

const placeholderKey = ({ variable, defaultText }: Placeholder): string => `${variable}:-${defaultText?.text ?? ''}`;

const uniquePlaceholders = (placeholders: readonly Placeholder[]): readonly Placeholder[] => [
  ...new Map(placeholders.map((placeholder) => [placeholderKey(placeholder), placeholder])).values(),
];

/** A variable has the same value everywhere in a text. */
function substituteVariable(text: MappedText, placeholder: Placeholder, value: MappedText): MappedText {
  const last = text.placeholders.findLast((each) => placeholderKey(each) === placeholderKey(placeholder));
  return last === undefined ? text : substituteVariable(replaceCharacter(text, last.at, value), placeholder, value);
}

/** The assignments whose value a variable can still have where it is used, in the order of the script. */
function findReachingAssignments(assignments: readonly Assignment[], use: CommandContext): readonly Assignment[] {
  const own = assignments.filter(({ context }) => context.functionName === use.functionName);
  const others = assignments.filter(({ context, local }) => context.functionName !== use.functionName && !local);
  const before = own.filter(({ context }) => context.order < use.order);
  const last = before.findLast(
    ({ context }) => context.unconditional && use.enclosingLists.includes(context.enclosingLists.at(-1) ?? []),
  );
  const recent = last === undefined ? before : before.slice(before.indexOf(last));
  const looped = own.filter(({ context }) => context.order > use.order && loopsBack(context, use, last?.context));
  return [...(last !== undefined && use.functionName !== null ? [] : others), ...recent, ...looped];
}

/** True if a loop leads from a later assignment back to the use, without one in between that always comes first. */
function loopsBack(later: CommandContext, use: CommandContext, last: CommandContext | undefined): boolean {
  return use.ancestors.some(
    (each) => isLoop(each) && later.ancestors.includes(each) && !last?.ancestors.includes(each),
  );
}

const isLoop = ({ type }: InnerNode): boolean => ['For', 'ArithmeticFor', 'Select', 'While'].includes(type);

/** Commands that declare variables. */
const DECLARATION_COMMANDS = new Set(['local', 'declare', 'typeset', 'export', 'readonly']);

/** Commands to which the name of a variable is only a word. */
const LITERAL_ARGUMENT_COMMANDS = new Set(['echo', 'printf', 'cat', '[', '[[', 'test', ...DECLARATION_COMMANDS]);

/** The values that a command gives to variables; a `for` gives one item after the other to its variable. */
function findAssignments({ node, context }: PlacedNode): readonly Assignment[] {
  if (node.type === 'For' || node.type === 'Select') {
    const enclosingLists = [...context.enclosingLists, node.body.commands];
    const inside = { ...context, enclosingLists, unconditional: true };
    return [{ variable: node.name.text, values: node.wordlist?.map(readWord) ?? [], context: inside, local: false }];
  }
  if (!isSimple(node)) return [];
  const { name, assignments } = readSimpleCommand(node);
  const local = DECLARATION_COMMANDS.has(name) && name !== 'export' && context.functionName !== null;
  return assignments.flatMap(({ variable, values, modifies }) =>
    modifies ? [] : [{ variable, values, context, local }],
  );
}

/** The variables that a command changes in a way that is not followed; any word may be the name of one. */
function findModifiedVariables({ command: { name, args, assignments } }: PlacedCommand): readonly string[] {
  const mayModifyArguments = !LITERAL_ARGUMENT_COMMANDS.has(name) || ['-v', '-n'].includes(args[0]?.text ?? '');
  return [
    ...assignments.flatMap(({ variable, modifies }) => (modifies ? variable : [])),
    ...(mayModifyArguments ? args.map(({ text }) => text).filter((text) => /^\w+$/.test(text)) : []),
  ];
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

/** The values that a test or a `case` asks for. */
function findTestedValues({ node }: PlacedNode): readonly string[] {
  if (node.type === 'Case') return node.items.flatMap(({ pattern }) => pattern.map((each) => readWord(each).text));
  const command = isSimple(node) ? readSimpleCommand(node) : null;
  return command !== null && isTestCommand(command.name) ? command.args.map(({ text }) => text) : [];
}
