import type { Case, CaseItem, If } from 'unbash';
import type { CommandOutput } from './command-output.ts';
import { ConditionReader } from './conditions.ts';
import { findMatchingArm, isExhaustive } from './equality.ts';
import { isFullyKnown } from './expanded-tags.ts';
import { setsNullglob } from './loops.ts';
import type { CommandList, InnerNode } from './parse.ts';
import type { SimpleCommand } from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import { type CommandContext, findPrintingCommands, listSimpleCommands } from './walk.ts';

/** Facts about a script as a whole, which hold on every path through it. */
export class ScriptFacts {
  readonly conditions: ConditionReader;
  readonly nullglob: boolean;
  private readonly values: VariableValues;
  private readonly printingCommands: ReadonlySet<InnerNode>;
  private readonly contexts: ReadonlyMap<SimpleCommand, CommandContext>;
  private readonly knownOutputs = new Map<SimpleCommand, boolean>();
  /** Whether `$1`, `$2` … change, because of a `shift` or `set`. */
  private readonly shiftsArguments: boolean;

  constructor(script: CommandList, values: VariableValues) {
    const commands = listSimpleCommands(script);
    this.values = values;
    this.conditions = new ConditionReader(script, values);
    this.nullglob = setsNullglob(commands);
    this.printingCommands = findPrintingCommands(script);
    this.contexts = new Map(commands.map(({ command, context }) => [command, context]));
    this.shiftsArguments = commands.some(({ command: { name } }) => name === 'shift' || name === 'set');
  }

  /** Whether a command prints a tag, or might. */
  isPrinting(command: InnerNode): boolean {
    return this.printingCommands.has(command);
  }

  /** Whether all that a command prints is written in the script. Cached, because a function is run for each of its calls. */
  isKnown(command: SimpleCommand, output: CommandOutput): boolean {
    const context = this.contexts.get(command);
    const known =
      this.knownOutputs.get(command) ??
      (output.sure && context !== undefined && isFullyKnown(output, context, this.values));
    this.knownOutputs.set(command, known);
    return known;
  }

  /** Whether one of the arms of a command is always taken. */
  isTotal(command: If | Case): boolean {
    const hasDefault = command.type === 'Case' && command.items.some(({ pattern }) => pattern.some(isDefault));
    return hasDefault || isExhaustive(command, this.values);
  }

  /** The only arm that a `case` can come to in a function that is called like this; undefined if that is unknown. */
  onlyArm(command: Case, call: SimpleCommand | null): CaseItem | undefined {
    return call === null || this.shiftsArguments ? undefined : findMatchingArm(command, call.args);
  }
}

const isDefault = ({ text }: CaseItem['pattern'][number]): boolean => text === '*';
