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
import {
  escapesAnalysis,
  readCommandOutput,
  readTrapHandlers,
  redirectsStdout,
  splitCommandWords,
} from './command-output.ts';
import { Exits } from './exits.ts';
import { substituteArguments } from './expanded-tags.ts';
import {
  alwaysIterates,
  findTagRepeatedPerIteration,
  findTagVaryingPerIteration,
  type LoopCommand,
  mayIterateOverNothing,
} from './loops.ts';
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
import type { AndOrList, CommandList, CommandNode, Pipeline, ShellCommand } from './syntax-tree.ts';
import type { VariableValues } from './variable-values.ts';
import type { Word } from './word.ts';

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
  private readonly functions = new Map<string, CommandNode>();
  private readonly activeFunctions = new Set<CommandNode>();
  /** What did not hold, or the function would have been left: something that it has written down itself. */
  private negatedFlags: Conditions = [];
  /** The call of the function that is being gone through. */
  private call: CommandNode | null = null;

  constructor(script: CommandList, values: VariableValues) {
    this.facts = new ScriptFacts(script, values);
  }

  runList(list: CommandList, from: CommandOutcome, reachesStdout: boolean): CommandOutcome {
    let outcome = from;
    for (const andOrList of list) {
      this.previous = outcome;
      outcome = this.runAndOrList(andOrList, allOutputs(outcome), reachesStdout);
      if (allOutputs(outcome).size > MAX_OUTPUTS) this.gaveUp = true;
      if (this.gaveUp) break;
    }
    return outcome;
  }

  private runAndOrList({ first, rest }: AndOrList, from: PathOutputs, reachesStdout: boolean): CommandOutcome {
    let outcome = this.runPipeline(first, from, reachesStdout);
    const before = [...first.commands];
    for (const { op, pipeline } of rest) {
      const tested = this.facts.conditions.readCommands(before);
      const condition = op === '&&' ? tested : { ...tested, equality: null };
      const [taken, notTaken] =
        op === '&&'
          ? [outcome.ok, { ...outcome, ok: NO_PATHS }]
          : [unsuccessfulOutputs(outcome), succeedWith(outcome.ok)];
      this.previous = op === '&&' ? succeedWith(taken) : failWith(taken);
      const next = this.withCondition(condition, () => this.runPipeline(pipeline, taken, reachesStdout));
      const mayPrint = pipeline.commands.some(({ command }) => this.facts.isPrinting(command));
      const at = before[0]?.at ?? 0;
      outcome = joinOutcomes(
        next,
        mayPrint ? mapOutcome(notTaken, (outputs) => this.markSilentUnlessImplied(outputs, at, condition)) : notTaken,
      );
      before.push(...pipeline.commands);
    }
    return outcome;
  }

  private runPipeline({ negated, commands }: Pipeline, from: PathOutputs, reachesStdout: boolean): CommandOutcome {
    const [last] = commands.slice(-1);
    if (last === undefined) return succeedWith(from);
    const before = commands.slice(0, -1);
    const { previous } = this;
    for (const node of before) this.exits.runInSubshell(() => this.runCommand(node, from, false));
    this.previous = previous;
    const run = (): CommandOutcome => this.runCommand(last, from, reachesStdout, before);
    const outcome = commands.length > 1 ? this.exits.runInSubshell(run) : run();
    return negated ? { ok: unsuccessfulOutputs(outcome), no: outcome.ok, failed: NO_PATHS } : outcome;
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
    part: CommandNode,
    from: PathOutputs,
    parentReachesStdout: boolean,
    before: readonly CommandNode[] = [],
  ): CommandOutcome {
    const { at, command, redirects } = part;
    const reachesStdout = parentReachesStdout && !redirectsStdout(redirects);
    switch (command.kind) {
      case 'simple': {
        const functionBody = this.functions.get(splitCommandWords(command.words).name);
        return functionBody === undefined
          ? this.runSimpleCommand(part, from, reachesStdout)
          : this.callFunction(functionBody, part, from, reachesStdout);
      }
      case 'if':
        return this.runIf(command, at, from, reachesStdout);
      case 'case':
        return this.runCase(command, at, from, reachesStdout);
      case 'loop':
        return this.runLoop(command, at, from, reachesStdout, [...before, { ...part, command: EMPTY_COMMAND }]);
      case 'group': {
        const run = (): CommandOutcome => this.runList(command.body, this.previous, reachesStdout);
        return command.subshell ? this.exits.runInSubshell(run) : run();
      }
      case 'function':
        this.functions.set(command.name, command.body);
        return succeedWith(from);
    }
  }

  private runSimpleCommand(
    { at, command, redirects }: CommandNode,
    from: PathOutputs,
    reachesStdout: boolean,
  ): CommandOutcome {
    const words = command.kind === 'simple' ? command.words : [];
    const output = readCommandOutput(words, redirects);
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
        ? this.facts.isKnown(words, output)
          ? allowSilence(printed)
          : addPossibleTag(printed)
        : printed;
    if (escapesAnalysis(words, redirects) || this.trapsPrintingFunction(words)) this.gaveUp = true;
    const { name, args } = splitCommandWords(words);
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
    return predictOutcome(words, outputs);
  }

  /** Whether it is a `trap` for a function that prints. */
  private trapsPrintingFunction(words: readonly Word[]): boolean {
    const bodies = readTrapHandlers(words).flatMap((name) => this.functions.get(name) ?? []);
    return bodies.some(({ command }) => this.facts.isPrinting(command));
  }

  private callFunction(
    body: CommandNode,
    call: CommandNode,
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

  private runIf(
    command: Extract<ShellCommand, { kind: 'if' }>,
    at: number,
    from: PathOutputs,
    reachesStdout: boolean,
  ): CommandOutcome {
    const outcomes: CommandOutcome[] = [];
    const condition = this.facts.conditions.readTests(command.arms.flatMap(({ test }) => test));
    const branch = (body: CommandList, start: CommandOutcome): CommandOutcome =>
      this.runBranch(command, body, at, start, reachesStdout, condition);
    let rest = succeedWith(from);
    for (const { test, body } of command.arms) {
      const tested = this.runList(test, rest, reachesStdout);
      outcomes.push(branch(body, succeedWith(tested.ok)));
      rest = { ...tested, ok: NO_PATHS };
    }
    if (command.elseBody !== null) outcomes.push(branch(command.elseBody, rest));
    else if (!this.facts.isTotal(command))
      outcomes.push(succeedWith(this.markBranchSilent(command, allOutputs(rest), at, condition)));
    return joinOutcomes(...outcomes);
  }

  private runCase(
    command: Extract<ShellCommand, { kind: 'case' }>,
    at: number,
    from: PathOutputs,
    reachesStdout: boolean,
  ): CommandOutcome {
    const condition = this.facts.conditions.readCaseWord(command.word);
    const only = this.facts.onlyArm(command, this.call);
    if (only !== undefined) return this.runBranch(command, only.body, at, succeedWith(from), reachesStdout, condition);
    const outcomes: CommandOutcome[] = [];
    let [matching, fallingThrough] = [from, NO_PATHS];
    for (const { patterns, body, end } of command.arms) {
      const start = patterns[0]?.at ?? at;
      const outcome = this.runBranch(
        command,
        body,
        start,
        succeedWith(joinOutputs(matching, fallingThrough)),
        reachesStdout,
        condition,
      );
      fallingThrough = end === ';&' ? allOutputs(outcome) : NO_PATHS;
      if (end === ';;&') matching = joinOutputs(matching, allOutputs(outcome));
      if (end === ';;') outcomes.push(outcome);
    }
    const unmatched = this.facts.isTotal(command) ? NO_PATHS : this.markBranchSilent(command, matching, at, condition);
    return joinOutcomes(...outcomes, succeedWith(joinOutputs(unmatched, fallingThrough)));
  }

  /** Once round is enough to know what can be printed, but for a tag that is another one in each round. */
  private runLoop(
    command: LoopCommand,
    at: number,
    from: PathOutputs,
    reachesStdout: boolean,
    inputs: readonly CommandNode[],
  ): CommandOutcome {
    const condition = this.facts.conditions.readLoop(command, inputs);
    const tested = this.runList(command.test, succeedWith(from), reachesStdout);
    const [yes, no] = [tested.ok, command.keyword === 'for' ? tested.ok : unsuccessfulOutputs(tested)];
    const [inside, afterLoop] = command.keyword === 'until' ? [no, yes] : [yes, no];
    const { breaks, continues } = this;
    const { hasExit } = this.exits;
    this.breaks = NO_PATHS;
    this.continues = NO_PATHS;
    const body = this.withCondition(condition, () => this.runList(command.body, succeedWith(inside), reachesStdout));
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
    command: ShellCommand,
    body: CommandList,
    at: number,
    from: CommandOutcome,
    reachesStdout: boolean,
    condition: Condition,
  ): CommandOutcome {
    const start = body[0]?.first.commands[0]?.at ?? at;
    const outcome = this.withCondition(condition, () => this.runList(body, from, reachesStdout));
    return mapOutcome(outcome, (outputs) => this.markBranchSilent(command, outputs, start, condition));
  }

  /** Leaving a branch without a word, where another one may have spoken. */
  private markBranchSilent(command: ShellCommand, outputs: PathOutputs, at: number, condition: Condition): PathOutputs {
    return this.facts.isPrinting(command) ? this.markSilentUnlessImplied(outputs, at, condition) : outputs;
  }

  private markSilentUnlessImplied(outputs: PathOutputs, at: number, condition: Condition): PathOutputs {
    return isImpliedByGuards(condition, this.exits.guards) ? allowSilence(outputs) : markSilent(outputs, at, condition);
  }
}

/** Stands for a loop where only its redirections matter. */
const EMPTY_COMMAND: ShellCommand = { kind: 'simple', words: [] };
