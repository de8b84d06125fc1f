import { UNKNOWN } from '../core/tag-mentions.ts';
import { type Assignment, type CommandCall, type ShellVariables, trackShellVariables } from './assignments.ts';
import { type MappedText, type Placeholder, replaceCharacter } from './mapped-text.ts';
import type { CommandList, InnerNode } from './parse.ts';
import type { CommandContext } from './walk.ts';

/** The texts that a text with variables in it can become, and whether those are all. */
export interface FilledTexts {
  readonly texts: readonly MappedText[];
  readonly isComplete: boolean;
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
  private readonly variables: ShellVariables;
  private depth = 0;

  constructor(script: CommandList, text: string) {
    this.variables = trackShellVariables(script, text);
  }

  /** Puts values in the place of the variables of a text; a variable whose values are not known stays as it is. */
  fill(text: MappedText, context: CommandContext): FilledTexts {
    if (text.placeholders.length === 0 || this.variables.allUntracked || this.depth >= MAX_DEPTH) return UNFILLED;
    this.depth += 1;
    const filled = text.placeholders.some(isArgument) ? this.fillByCalls(text, context) : this.fillAll(text, context);
    this.depth -= 1;
    return filled;
  }

  /** Lists all values that a variable ever gets in the script; null if they are not all known. */
  allValuesOf(variable: string | null): readonly string[] | null {
    const { assignments, untracked, allUntracked } = this.variables;
    const own = assignments.filter((each) => each.variable === variable);
    const values = own.flatMap((each) => each.values);
    const isKnown = values.length > 0 && own.every((each) => each.values.length > 0) && values.every(isPlain);
    return variable === null || allUntracked || untracked.has(variable) || !isKnown
      ? null
      : values.map(({ text }) => text);
  }

  /** The arguments of one call belong together. */
  private fillByCalls(text: MappedText, context: CommandContext): FilledTexts {
    const { calls } = this.variables;
    const { functionName } = context;
    const shiftsArguments = calls.some(
      (call) => call.context.functionName === functionName && (call.name === 'shift' || call.name === 'set'),
    );
    if (functionName === null || shiftsArguments) return UNFILLED;
    const filled = calls.filter(({ name }) => name === functionName).map((call) => this.fillAll(text, context, call));
    return joinFilled(filled);
  }

  private fillAll(text: MappedText, context: CommandContext, call?: CommandCall): FilledTexts {
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

  private valuesOf({ variable, defaultText }: Placeholder, context: CommandContext, call?: CommandCall): FilledTexts {
    const { texts, isComplete } = isArgument({ variable })
      ? this.argumentTexts(variable, call)
      : this.assignedTexts(variable, context);
    const remaining = texts.filter(({ text }) => !this.isComparedWith(variable, text, context));
    return {
      texts: defaultText === null ? remaining : [...remaining, defaultText],
      isComplete: isComplete && remaining.length === texts.length,
    };
  }

  private argumentTexts(variable: string, call: CommandCall | undefined): FilledTexts {
    const word = call?.args[Number(variable) - 1];
    return call === undefined || word === undefined ? UNFILLED : this.valueTexts(word, call.context);
  }

  private assignedTexts(variable: string, context: CommandContext): FilledTexts {
    const { assignments, untracked } = this.variables;
    const reaching = findReachingAssignments(
      assignments.filter((each) => each.variable === variable && this.isCalled(each.context.functionName)),
      context,
    );
    if (reaching.length === 0 || untracked.has(variable)) return UNFILLED;
    const filled = reaching.flatMap((each) =>
      each.values.length === 0
        ? UNFILLED
        : each.values.filter(isNonEmpty).map((value) => this.valueTexts(value, each.context)),
    );
    // One value that is not known may go on from the others, as in counting.
    if (filled.some(({ texts }) => texts.length === 0)) return UNFILLED;
    return joinFilled(filled);
  }

  /** A value that a test asks for may never get to where it would be printed. */
  private isComparedWith(variable: string, value: string, { functionName }: CommandContext): boolean {
    const argumentOwner = isArgument({ variable }) ? functionName : null;
    return this.variables.comparisons
      .filter((each) => each.variable === variable && each.value === value)
      .some((each) => argumentOwner === null || each.functionName === argumentOwner);
  }

  /** Whether a function is called anywhere; the script itself is run. */
  private isCalled(functionName: string | null): boolean {
    return functionName === null || this.variables.calls.some(({ name }) => name === functionName);
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

/** Whether a loop leads from a later assignment back to the use, without one in between that always comes first. */
function loopsBack(later: CommandContext, use: CommandContext, last: CommandContext | undefined): boolean {
  return use.ancestors.some(
    (each) => isLoop(each) && later.ancestors.includes(each) && !last?.ancestors.includes(each),
  );
}

const isLoop = ({ type }: InnerNode): boolean => ['For', 'ArithmeticFor', 'Select', 'While'].includes(type);
