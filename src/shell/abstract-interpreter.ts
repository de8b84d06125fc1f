import type { Case, If, PipelineNode, Statement } from 'unbash';
import {
  allOutputs,
  type CommandOutcome,
  exitWithCode,
  failWith,
  joinOutcomes,
  mapOutcome,
  predictOutcome,
  succeedWith,
  UNREACHED,
  unsuccessfulOutputs,
} from './command-outcome.ts';
import { escapesAnalysis, readCommandOutput, readTrapHandlers, redirectsStdout } from './command-output.ts';
import { Exits } from './exits.ts';
import { substituteArguments } from './expanded-tags.ts';
import {
  alwaysIterates,
  findTagRepeatedPerIteration,
  findTagVaryingPerIteration,
  type LoopCommand,
  mayIterateOverNothing,
  readLoopHeader,
} from './loops.ts';
import {
  type CommandList,
  commandsOf,
  type InnerNode,
  innerCommand,
  isNegated,
  pipelinesOf,
  type ShellNode,
} from './parse.ts';
import {
  addPossibleTag,
  allowSilence,
  appendTags,
  appendUnclosedResult,
  type Condition,
  type Conditions,
  isImpliedByGuards,
  joinOutputs,
  markSilent,
  NO_PATHS,
  type PathOutputs,
  repeatTag,
  skipLoop,
} from './path-outputs.ts';
import { ScriptFacts } from './script-facts.ts';
import { isSimple, readSimpleCommand, redirectsOf, type SimpleCommand } from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import { readWord } from './word.ts';

const MAX_OUTPUTS = 200;

/** Goes through a script on all of its ways at once. */
export class AbstractInterpreter {
  gaveUp = false;
  readonly exits = new Exits();
  private breaks: PathOutputs = NO_PATHS;
  private continues: PathOutputs = NO_PATHS;
  /** The conditions around the present command. */
  private conditions: Conditions = [];
  /** What came of the command before: an `exit` without a code goes by that. */
  private previous: CommandOutcome = UNREACHED;
  private readonly facts: ScriptFacts;
  private readonly functions = new Map<string, ShellNode>();
  private readonly activeFunctions = new Set<ShellNode>();
  /** What did not hold, or the function would have been left: something that it has written down itself. */
  private negatedFlags: Conditions = [];
  /** The call of the function that is being gone through. */
  private call: SimpleCommand | null = null;

  constructor(script: CommandList, values: VariableValues) {
    this.facts = new ScriptFacts(script, values);
  }

  runList(list: CommandList, from: CommandOutcome, reachesStdout: boolean): CommandOutcome {
    let outcome = from;
    for (const statement of list) {
      this.previous = outcome;
      outcome = this.runStatement(statement, allOutputs(outcome), reachesStdout);
      if (allOutputs(outcome).size > MAX_OUTPUTS) this.gaveUp = true;
      if (this.gaveUp) break;
    }
    return outcome;
  }

  private runStatement(statement: Statement, from: PathOutputs, reachesStdout: boolean): CommandOutcome {
    const { commands: pipelines, operators } = pipelinesOf(statement);
    let outcome = succeedWith(from);
    const before: ShellNode[] = [];
    for (const [index, pipeline] of pipelines.entries()) {
      const operator = operators[index - 1];
      outcome =
        operator === undefined
          ? this.runPipeline(pipeline, from, reachesStdout)
          : this.runAfter(
              operator,
              pipeline,
              outcome,
              reachesStdout,
              this.facts.conditions.readCommands(before),
              statement.pos,
            );
      before.push(...commandsOf(pipeline));
    }
    return outcome;
  }

  /** Runs a pipeline behind `&&` or `||`, which depends on what comes before. */
  private runAfter(
    operator: '&&' | '||',
    pipeline: PipelineNode,
    from: CommandOutcome,
    reachesStdout: boolean,
    tested: Condition,
    at: number,
  ): CommandOutcome {
    const condition = operator === '&&' ? tested : { ...tested, equality: null };
    const [taken, notTaken] =
      operator === '&&' ? [from.ok, { ...from, ok: NO_PATHS }] : [unsuccessfulOutputs(from), succeedWith(from.ok)];
    this.previous = operator === '&&' ? succeedWith(taken) : failWith(taken);
    const next = this.withCondition(condition, () => this.runPipeline(pipeline, taken, reachesStdout));
    const mayPrint = commandsOf(pipeline).some((node) => this.facts.isPrinting(innerCommand(node)));
    return joinOutcomes(
      next,
      mayPrint ? mapOutcome(notTaken, (outputs) => this.markSilentUnlessImplied(outputs, at, condition)) : notTaken,
    );
  }

  private runPipeline(pipeline: PipelineNode, from: PathOutputs, reachesStdout: boolean): CommandOutcome {
    const commands = commandsOf(pipeline);
    const [last] = commands.slice(-1);
    if (last === undefined) return succeedWith(from);
    const before = commands.slice(0, -1);
    const { previous } = this;
    for (const node of before) this.exits.runInSubshell(() => this.runCommand(node, from, false));
    this.previous = previous;
    const run = (): CommandOutcome => this.runCommand(last, from, reachesStdout, before);
    const outcome = commands.length > 1 ? this.exits.runInSubshell(run) : run();
    return isNegated(pipeline) ? { ok: unsuccessfulOutputs(outcome), no: outcome.ok, failed: NO_PATHS } : outcome;
  }

  /** Runs something that depends on a condition. */
  private withCondition<T>(condition: Condition, run: () => T): T {
    const before = this.conditions;
    this.conditions = [...before, condition];
    const outcome = run();
    this.conditions = before;
    return outcome;
  }

  /** Runs a command that reads what those before it in a pipeline print. */
  private runCommand(
    node: ShellNode,
    from: PathOutputs,
    parentReachesStdout: boolean,
    before: readonly ShellNode[] = [],
  ): CommandOutcome {
    const redirects = redirectsOf(node);
    const command = innerCommand(node);
    const reachesStdout = parentReachesStdout && !redirectsStdout(redirects);
    if (isSimple(command)) return this.runSimple(readSimpleCommand(command, redirects), from, reachesStdout);
    switch (command.type) {
      case 'If':
        return this.runIf(command, from, reachesStdout);
      case 'Case':
        return this.runCase(command, from, reachesStdout);
      case 'For':
      case 'ArithmeticFor':
      case 'Select':
      case 'While': {
        const condition = this.facts.conditions.readLoop(command, before, redirects);
        return this.runLoop(command, from, reachesStdout, condition);
      }
      case 'BraceGroup':
        return this.runList(command.body.commands, this.previous, reachesStdout);
      case 'Subshell':
        return this.exits.runInSubshell(() => this.runList(command.body.commands, this.previous, reachesStdout));
      case 'CompoundList':
        return this.runList(command.commands, this.previous, reachesStdout);
      case 'Function':
        this.functions.set(readWord(command.name).text, command.body);
        return succeedWith(from);
      case 'Coproc':
        this.exits.runInSubshell(() => this.runCommand(command.body, from, false));
        return succeedWith(from);
    }
  }

  private runSimple(command: SimpleCommand, from: PathOutputs, reachesStdout: boolean): CommandOutcome {
    const body = this.functions.get(command.name);
    return body === undefined
      ? this.runSimpleCommand(command, from, reachesStdout)
      : this.callFunction(body, command, from, reachesStdout);
  }

  private runSimpleCommand(command: SimpleCommand, from: PathOutputs, reachesStdout: boolean): CommandOutcome {
    const { at, name, args } = command;
    const output = readCommandOutput(command);
    const { halves, sure, mayPrintUnknown } = output;
    const tags = substituteArguments(output, this.call);
    const isUnclosedResult = sure && halves.some(({ name }) => name === 'result');
    const printed =
      reachesStdout && sure
        ? appendTags(isUnclosedResult ? appendUnclosedResult(from) : from, tags, [
            ...this.conditions,
            ...this.negatedFlags,
          ])
        : from;
    const outputs =
      reachesStdout && mayPrintUnknown
        ? this.facts.isKnown(command, output)
          ? allowSilence(printed)
          : addPossibleTag(printed)
        : printed;
    if (escapesAnalysis(command) || this.trapsPrintingFunction(command)) this.gaveUp = true;
    const code = args[0]?.text;
    switch (name) {
      case 'exit':
        this.exits.recordExit(
          code === undefined ? this.previous : exitWithCode(code, outputs),
          code,
          at,
          this.conditions,
        );
        return UNREACHED;
      case 'return': {
        const flags = this.conditions.filter((condition) => this.facts.conditions.dependsOnFlag(condition));
        const isFlagged = flags.length > 0;
        this.negatedFlags = [...this.negatedFlags, ...flags];
        const returned = code === undefined ? this.previous : exitWithCode(code, outputs);
        this.exits.recordReturn(
          mapOutcome(returned, (each) => (isFlagged ? allowSilence(each) : markSilent(each, at))),
        );
        return UNREACHED;
      }
      case 'break':
        this.breaks = joinOutputs(this.breaks, outputs);
        return UNREACHED;
      case 'continue':
        this.continues = joinOutputs(this.continues, outputs);
        return UNREACHED;
    }
    return predictOutcome(command, outputs);
  }

  /** Whether it is a `trap` for a function that prints. */
  private trapsPrintingFunction(command: SimpleCommand): boolean {
    const bodies = readTrapHandlers(command).flatMap((name) => this.functions.get(name) ?? []);
    return bodies.some((body) => this.facts.isPrinting(innerCommand(body)));
  }

  private callFunction(
    body: ShellNode,
    call: SimpleCommand,
    from: PathOutputs,
    reachesStdout: boolean,
  ): CommandOutcome {
    const unknown = addPossibleTag(from);
    if (this.activeFunctions.has(body)) return { ok: unknown, no: unknown, failed: NO_PATHS };
    const { call: outer, negatedFlags } = this;
    this.call = call;
    this.activeFunctions.add(body);
    const outcome = this.exits.runFunction(() => this.runCommand(body, from, reachesStdout));
    this.activeFunctions.delete(body);
    this.call = outer;
    this.negatedFlags = negatedFlags;
    return outcome;
  }

  private runIf(command: If, from: PathOutputs, reachesStdout: boolean): CommandOutcome {
    const arms = [command, ...command.elif];
    const condition = this.facts.conditions.readTests(arms.flatMap(({ clause }) => clause.commands));
    const branch = (body: CommandList, start: CommandOutcome): CommandOutcome =>
      this.runBranch(command, body, command.pos, start, reachesStdout, condition);
    const outcomes: CommandOutcome[] = [];
    let rest = succeedWith(from);
    for (const { clause, then } of arms) {
      const tested = this.runList(clause.commands, rest, reachesStdout);
      outcomes.push(branch(then.commands, succeedWith(tested.ok)));
      rest = { ...tested, ok: NO_PATHS };
    }
    if (command.else !== undefined) outcomes.push(branch(command.else.commands, rest));
    else if (!this.facts.isTotal(command))
      outcomes.push(succeedWith(this.markBranchSilent(command, allOutputs(rest), command.pos, condition)));
    return joinOutcomes(...outcomes);
  }

  private runCase(command: Case, from: PathOutputs, reachesStdout: boolean): CommandOutcome {
    const condition = this.facts.conditions.readCaseWord(command.word);
    const branch = (body: CommandList, at: number, start: PathOutputs): CommandOutcome =>
      this.runBranch(command, body, at, succeedWith(start), reachesStdout, condition);
    const only = this.facts.onlyArm(command, this.call);
    if (only !== undefined) return branch(only.body.commands, command.pos, from);
    const outcomes: CommandOutcome[] = [];
    let [matching, fallingThrough] = [from, NO_PATHS];
    for (const { pattern, body, terminator = ';;' } of command.items) {
      const start = pattern[0]?.pos ?? command.pos;
      const outcome = branch(body.commands, start, joinOutputs(matching, fallingThrough));
      fallingThrough = terminator === ';&' ? allOutputs(outcome) : NO_PATHS;
      if (terminator === ';;&') matching = joinOutputs(matching, allOutputs(outcome));
      if (terminator === ';;') outcomes.push(outcome);
    }
    const unmatched = this.facts.isTotal(command)
      ? NO_PATHS
      : this.markBranchSilent(command, matching, command.pos, condition);
    return joinOutcomes(...outcomes, succeedWith(joinOutputs(unmatched, fallingThrough)));
  }

  /** One iteration is enough to know what can be printed, but for a tag that is another one each time. */
  private runLoop(
    command: LoopCommand,
    from: PathOutputs,
    reachesStdout: boolean,
    condition: Condition,
  ): CommandOutcome {
    const { keyword, test } = readLoopHeader(command);
    const at = command.pos;
    const tested = this.runList(test, succeedWith(from), reachesStdout);
    const [yes, no] = [tested.ok, keyword === 'for' ? tested.ok : unsuccessfulOutputs(tested)];
    const [inside, afterLoop] = keyword === 'until' ? [no, yes] : [yes, no];
    const { breaks, continues } = this;
    const { hasExit } = this.exits;
    this.breaks = NO_PATHS;
    this.continues = NO_PATHS;
    const body = this.withCondition(condition, () =>
      this.runList(command.body.commands, succeedWith(inside), reachesStdout),
    );
    const iterations = joinOutcomes(body, succeedWith(this.continues));
    const leftByBreak = this.breaks;
    this.breaks = breaks;
    this.continues = continues;
    if (afterLoop.size === 0) return succeedWith(leftByBreak);
    const withoutIteration = alwaysIterates(command) ? NO_PATHS : afterLoop;
    if (!this.facts.isPrinting(command))
      return joinOutcomes(succeedWith(joinOutputs(withoutIteration, leftByBreak)), iterations);
    const empty =
      mayIterateOverNothing(command, this.facts.nullglob) && !hasExit
        ? skipLoop(withoutIteration, at, condition)
        : allowSilence(withoutIteration);
    // Whoever prints in it may leave it at once, as one who looks for something does; or goes on to the next.
    const continuesAfterPrinting = [...allOutputs(iterations).keys()].some((key) => !inside.has(key));
    if (!continuesAfterPrinting) {
      return joinOutcomes(
        succeedWith(joinOutputs(empty, leftByBreak)),
        // What a round asked about one item says nothing about all of them.
        mapOutcome(iterations, (each) =>
          each.size === 0 ? each : this.markSilentUnlessImplied(inside, at, condition),
        ),
      );
    }
    const repeatedTag = reachesStdout
      ? (findTagRepeatedPerIteration(command) ?? findTagVaryingPerIteration(command, condition, allOutputs(iterations)))
      : undefined;
    const printed = (each: PathOutputs): PathOutputs =>
      allowSilence(repeatedTag === undefined ? each : repeatTag(each, repeatedTag));
    return joinOutcomes(succeedWith(joinOutputs(empty, allowSilence(leftByBreak))), mapOutcome(iterations, printed));
  }

  private runBranch(
    command: InnerNode,
    body: CommandList,
    at: number,
    from: CommandOutcome,
    reachesStdout: boolean,
    condition: Condition,
  ): CommandOutcome {
    const start = body[0]?.pos ?? at;
    const outcome = this.withCondition(condition, () => this.runList(body, from, reachesStdout));
    return mapOutcome(outcome, (outputs) => this.markBranchSilent(command, outputs, start, condition));
  }

  /** Leaving a branch without a word, where another one may have spoken. */
  private markBranchSilent(command: InnerNode, outputs: PathOutputs, at: number, condition: Condition): PathOutputs {
    return this.facts.isPrinting(command) ? this.markSilentUnlessImplied(outputs, at, condition) : outputs;
  }

  private markSilentUnlessImplied(outputs: PathOutputs, at: number, condition: Condition): PathOutputs {
    return isImpliedByGuards(condition, this.exits.guards) ? allowSilence(outputs) : markSilent(outputs, at, condition);
  }
}
