import type { CommandOutput } from './command-output.ts';
import { type Condition, ConditionReader, type Conditions, isImpliedByGuards } from './conditions.ts';
import { isFullyKnown } from './expanded-tags.ts';
import { type CommandOutcome, Exits, UNREACHED } from './outcomes.ts';
import { type CommandList, type InnerNode, innerCommand, type ShellNode } from './parse.ts';
import { forgetSilence, markSilent, type PathOutputs } from './path-outputs.ts';
import type { SimpleCommand } from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import { type CommandContext, findPrintingCommands, listSimpleCommands } from './walk.ts';

/** The surroundings of a command. */
interface Surroundings {
  /** True if its output is that of the script. */
  readonly reachesStdout: boolean;
  readonly conditions: Conditions;
  /** The call of the function that contains it. */
  readonly call: SimpleCommand | null;
}

/** All that the abstract interpreter knows besides what has been printed. */
export class InterpreterState {
  readonly conditionReader: ConditionReader;
  readonly exits = new Exits();
  readonly functions = new Map<string, ShellNode>();
  /** True once the analysis is given up: the text does not show all paths, or they are too many. */
  gaveUp = false;
  /** The surroundings of the present command. */
  around: Surroundings = { reachesStdout: true, conditions: [], call: null };
  /** How the command before ended: an `exit` without a code takes its code from there. */
  previous: CommandOutcome = UNREACHED;
  readonly values: VariableValues;
  private readonly printingCommands: ReadonlySet<InnerNode>;
  private readonly contexts: ReadonlyMap<SimpleCommand, CommandContext>;
  private readonly knownOutputs = new Map<SimpleCommand, boolean>();

  constructor(script: CommandList, values: VariableValues) {
    this.values = values;
    this.conditionReader = new ConditionReader(script, values);
    this.printingCommands = findPrintingCommands(script);
    this.contexts = new Map(listSimpleCommands(script).map(({ command, context }) => [command, context]));
  }

  /** Runs commands in other surroundings. */
  within<T>(changes: Partial<Surroundings>, run: () => T): T {
    const { around } = this;
    this.around = { ...around, ...changes };
    const outcome = run();
    this.around = around;
    return outcome;
  }

  /** Runs commands that depend on a condition. */
  underCondition<T>(condition: Condition, run: () => T): T {
    return this.within({ conditions: [...this.around.conditions, condition] }, run);
  }

  /** True if a command, or the function with this name, prints a tag or might. */
  isPrinting(command: ShellNode | string): boolean {
    const node = typeof command === 'string' ? this.functions.get(command) : command;
    return node !== undefined && this.printingCommands.has(innerCommand(node));
  }

  /** True if all that a command prints is written in the script. Cached, because a function is run for each of its calls. */
  isKnown(command: SimpleCommand, output: CommandOutput): boolean {
    const context = this.contexts.get(command);
    const known =
      this.knownOutputs.get(command) ??
      (output.sure && context !== undefined && isFullyKnown(output, context, this.values));
    this.knownOutputs.set(command, known);
    return known;
  }

  /** Notes that a branch of a command ends here, where another branch may have printed something. */
  leaveBranch(command: InnerNode, outputs: PathOutputs, at: number, condition: Condition): PathOutputs {
    return this.isPrinting(command) ? this.markSilent(outputs, at, condition) : outputs;
  }

  /** Notes that nothing was printed under a condition, unless the script would have failed earlier in this case. */
  markSilent(outputs: PathOutputs, at: number, condition: Condition): PathOutputs {
    return isImpliedByGuards(condition, this.exits.guards)
      ? forgetSilence(outputs)
      : markSilent(outputs, at, condition);
  }
}
