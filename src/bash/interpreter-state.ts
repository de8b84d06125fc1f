import { type CommandOutcome, UNREACHED } from './command-outcome.ts';
import { type Condition, type Conditions, isImpliedByGuards } from './condition-logic.ts';
import { Exits } from './exits.ts';
import { type InnerNode, innerCommand, type ShellNode } from './parse.ts';
import { forgetSilence, markSilent, type PathOutputs } from './path-outputs.ts';
import type { ScriptFacts } from './script-facts.ts';
import type { SimpleCommand } from './simple-command.ts';

/** The surroundings of the command that the abstract interpreter runs; what has been printed is not part of it. */
export class InterpreterState {
  readonly facts: ScriptFacts;
  readonly exits = new Exits();
  readonly functions = new Map<string, ShellNode>();
  /** True once the analysis is given up: the text does not show all paths, or they are too many. */
  gaveUp = false;
  /** Whether the output of the present command is that of the script. */
  reachesStdout = true;
  /** The conditions around the present command. */
  conditions: Conditions = [];
  /** How the command before ended: an `exit` without a code takes its code from there. */
  previous: CommandOutcome = UNREACHED;
  /** The call of the present function. */
  call: SimpleCommand | null = null;
  /** Conditions on flag variables under which the present function has returned early: they do not hold any more. */
  negatedFlags: Conditions = [];

  constructor(facts: ScriptFacts) {
    this.facts = facts;
  }

  /** Runs commands that depend on a condition. */
  withCondition<T>(condition: Condition, run: () => T): T {
    const { conditions } = this;
    this.conditions = [...conditions, condition];
    const outcome = run();
    this.conditions = conditions;
    return outcome;
  }

  /** Runs commands whose output is that of the script only if this holds as well. */
  withStdout<T>(reachesStdout: boolean, run: () => T): T {
    const { reachesStdout: before } = this;
    this.reachesStdout = before && reachesStdout;
    const outcome = run();
    this.reachesStdout = before;
    return outcome;
  }

  /** Runs the body of a function. */
  withCall(call: SimpleCommand, run: () => CommandOutcome): CommandOutcome {
    const { call: outer, negatedFlags } = this;
    this.call = call;
    const outcome = this.exits.runFunction(run);
    this.call = outer;
    this.negatedFlags = negatedFlags;
    return outcome;
  }

  /** Whether a command, or the function with this name, prints a tag or might. */
  isPrinting(command: ShellNode | string): boolean {
    const node = typeof command === 'string' ? this.functions.get(command) : command;
    return node !== undefined && this.facts.isPrinting(innerCommand(node));
  }

  /** Notes that a branch of a command ends here, where another branch may have printed something. */
  leaveBranch(command: InnerNode, outputs: PathOutputs, at: number, condition: Condition): PathOutputs {
    return this.facts.isPrinting(command) ? this.markSilent(outputs, at, condition) : outputs;
  }

  /** Notes that nothing was printed under a condition, unless the script would have failed earlier in this case. */
  markSilent(outputs: PathOutputs, at: number, condition: Condition): PathOutputs {
    return isImpliedByGuards(condition, this.exits.guards)
      ? forgetSilence(outputs)
      : markSilent(outputs, at, condition);
  }
}
