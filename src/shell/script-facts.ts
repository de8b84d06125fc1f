import { type CommandOutput, splitCommandWords } from './command-output.ts';
import { ConditionReader } from './conditions.ts';
import { findMatchingArm, isExhaustive } from './equality.ts';
import { isFullyKnown } from './expanded-tags.ts';
import { setsNullglob } from './loops.ts';
import type { CommandList, CommandNode, ShellCommand } from './syntax-tree.ts';
import type { VariableValues } from './variable-values.ts';
import { type CommandContext, findPrintingCommands, listSimpleCommands } from './walk.ts';
import type { Word } from './word.ts';

type CaseCommand = Extract<ShellCommand, { kind: 'case' }>;

/** What holds of a script as a whole, wherever one stands in it. */
export class ScriptFacts {
  readonly conditions: ConditionReader;
  readonly nullglob: boolean;
  private readonly values: VariableValues;
  private readonly printingCommands: ReadonlySet<ShellCommand>;
  private readonly contexts: ReadonlyMap<readonly Word[], CommandContext>;
  private readonly knownOutputs = new Map<readonly Word[], boolean>();
  /** Whether arguments do not stay where they are. */
  private readonly shiftsArguments: boolean;

  constructor(script: CommandList, values: VariableValues) {
    const commands = listSimpleCommands(script);
    this.values = values;
    this.conditions = new ConditionReader(script, values);
    this.nullglob = setsNullglob(script);
    this.printingCommands = findPrintingCommands(script);
    this.contexts = new Map(commands.map((command) => [command.words, command]));
    this.shiftsArguments = commands.some(({ words }) => ['shift', 'set'].includes(splitCommandWords(words).name));
  }

  /** Whether a command prints a tag, or might. */
  isPrinting(command: ShellCommand): boolean {
    return this.printingCommands.has(command);
  }

  /** Whether all that a command prints stands in the script. A function is gone through for each of its calls. */
  isKnown(words: readonly Word[], output: CommandOutput): boolean {
    const context = this.contexts.get(words);
    const known =
      this.knownOutputs.get(words) ??
      (output.sure && context !== undefined && isFullyKnown(output, context, this.values));
    this.knownOutputs.set(words, known);
    return known;
  }

  /** Whether one of the arms of a command is always taken. */
  isTotal(command: ShellCommand): boolean {
    return (command.kind === 'case' && command.hasDefaultArm) || isExhaustive(command, this.values);
  }

  /** The only arm that a `case` can come to in a function that is called like this; undefined if that cannot be told. */
  onlyArm(command: CaseCommand, call: CommandNode | null): CaseCommand['arms'][number] | undefined {
    if (call?.command.kind !== 'simple' || this.shiftsArguments) return undefined;
    return findMatchingArm(command, splitCommandWords(call.command.words).args);
  }
}
