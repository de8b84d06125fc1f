import type { Case, If, PipelineNode, Statement } from 'unbash';
import { escapesAnalysis, readCommandOutput, readTrapHandlers, redirectsStdout } from './command-output.ts';
import { type Condition, isExhaustive } from './conditions.ts';
import { substituteArguments } from './expanded-tags.ts';
import { InterpreterState } from './interpreter-state.ts';
import {
  alwaysIterates,
  findTagRepeatedPerIteration,
  type LoopCommand,
  mayIterateOverNothing,
  readLoopHeader,
} from './loops.ts';
import {
  allOutputs,
  type CommandOutcome,
  failWith,
  joinOutcomes,
  mapOutcome,
  predictOutcome,
  succeedWith,
  UNREACHED,
  unsuccessfulOutputs,
} from './outcomes.ts';
import {
  type CommandList,
  type InnerNode,
  innerCommand,
  isNegated,
  pipelineCommands,
  pipelinesOf,
  type ShellNode,
} from './parse.ts';
import {
  addPossibleTag,
  appendTags,
  appendUnclosedResult,
  forgetSilence,
  joinOutputs,
  markSilent,
  NO_PATHS,
  type PathOutputs,
  repeatTag,
  skipLoop,
} from './path-outputs.ts';
import { isSimple, type Redirect, readSimpleCommand, redirectsOf, type SimpleCommand } from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import { readWord } from './word.ts';

/** More outputs at one point than a script with a purpose has. */
const MAX_OUTPUTS = 200;

/** More commands than any script has; functions that call each other twice could run millions. */
const MAX_STEPS = 20_000;

/**
 * Analyzes a script on all of its paths at once, without running anything. (The interpreter of answers is `core/step.ts`.)
 *
 * **Values.** What one path has printed is a `PathOutput`. From the least to the most:
 *
 *   nothing     no tag yet; knows since when a command that could have printed one did not
 *   skipped     no tag, if a loop had nothing to iterate over
 *   uncertain   some of the tags that are written in the script, or none: nothing is claimed any more
 *   unknown     perhaps a tag that is not written in the script
 *   forks       one or more forks
 *   single      one transition, perhaps beside forks
 *   conflict    two tags that exclude each other; stays what it is
 *
 * Each remembers the conditions on its path. All paths that come to a command are `PathOutputs`: a set with at most one
 * element for each kind (for each tag, of `single`), so that two branches do not double the work of what follows them.
 * No element means that no path comes there.
 *
 * **Steps.** A command takes `PathOutputs` to a `CommandOutcome`: what has been printed if it succeeded, if it was a test and
 * the answer is no, and if it failed. `&&`, `||`, `if` and `!` choose among these three. An `exit`, `return`, `break` or
 * `continue` leads nowhere; what was printed before it is kept in `Exits` and joined where it comes out.
 *
 * **Joins.** Where paths meet, sets are united; elements of the same kind become one that has the conditions of both. After a
 * branch that can print, `nothing` notes where it was silent and under which condition. Two conditions that ask about the
 * same thing may exclude each other, or may be all that is possible: a `conflict` or `nothing` that would need both to be
 * true becomes `uncertain`. The paths of a loop are those of no iteration and of one.
 *
 * **Example.**
 *
 *   if [ -f a ]; then              nothing
 *     echo "<goto>A</goto>"        single A (about: a)
 *   fi                             single A (about: a), nothing (silent since line 1, about: a)
 *   if [ -s b ]; then
 *     echo "<goto>B</goto>"        conflict A/B, single B (about: a, b)
 *   fi                             conflict A/B, single A, single B, nothing (silent since line 4, about: a, b)
 *
 * At the end, `conflict` is the finding `several-tags` at line 5, and `nothing` is `silent-path` at line 4. If the second
 * test asked about `a` as well, it could be the opposite of the first: both would be `uncertain`, and there is no finding.
 */
export class AbstractInterpreter {
  readonly state: InterpreterState;
  private readonly activeFunctions = new Set<ShellNode>();
  private steps = 0;

  constructor(script: CommandList, values: VariableValues) {
    this.state = new InterpreterState(script, values);
  }

  /** Runs commands one after the other. */
  runList(list: CommandList, from: CommandOutcome): CommandOutcome {
    let outcome = from;
    for (const statement of list) {
      this.state.previous = outcome;
      outcome = this.runStatement(statement, allOutputs(outcome));
      if (allOutputs(outcome).size > MAX_OUTPUTS || ++this.steps > MAX_STEPS) this.state.gaveUp = true;
      if (this.state.gaveUp) break;
    }
    return outcome;
  }

  private runStatement(statement: Statement, from: PathOutputs): CommandOutcome {
    const { commands: pipelines, operators } = pipelinesOf(statement);
    const before: ShellNode[] = [];
    let outcome = succeedWith(from);
    for (const [index, pipeline] of pipelines.entries()) {
      const operator = operators[index - 1];
      if (operator === undefined) outcome = this.runPipeline(pipeline, from);
      else {
        const tested = this.state.conditionReader.readCommands(before);
        const holds = operator === '&&' && !pipelines.slice(0, index).some(isNegated);
        const condition = holds ? tested : { ...tested, equality: null };
        outcome = this.runAfter(operator, pipeline, outcome, condition, statement.pos);
      }
      before.push(...pipelineCommands(pipeline));
    }
    return outcome;
  }

  /** Runs a pipeline behind `&&` or `||`. */
  private runAfter(
    operator: '&&' | '||',
    pipeline: PipelineNode,
    from: CommandOutcome,
    condition: Condition,
    at: number,
  ): CommandOutcome {
    const { state } = this;
    const [taken, notTaken] =
      operator === '&&' ? [from.ok, { ...from, ok: NO_PATHS }] : [unsuccessfulOutputs(from), succeedWith(from.ok)];
    state.previous = operator === '&&' ? succeedWith(taken) : failWith(taken);
    const next = state.underCondition(condition, () => this.runPipeline(pipeline, taken));
    const mayPrint = pipelineCommands(pipeline).some((node) => state.isPrinting(node));
    const skipped = mayPrint ? mapOutcome(notTaken, (outputs) => state.markSilent(outputs, at, condition)) : notTaken;
    return joinOutcomes(next, skipped);
  }

  private runPipeline(pipeline: PipelineNode, from: PathOutputs): CommandOutcome {
    const { state } = this;
    const commands = pipelineCommands(pipeline);
    const [last] = commands.slice(-1);
    if (last === undefined) return succeedWith(from);
    const before = commands.slice(0, -1);
    const { previous } = state;
    for (const node of before) this.runInBackground(node, from);
    state.previous = previous;
    const run = (): CommandOutcome => this.runCommand(last, from, before);
    const outcome = commands.length > 1 ? state.exits.runInSubshell(run) : run();
    return isNegated(pipeline) ? { ok: unsuccessfulOutputs(outcome), no: outcome.ok, failed: NO_PATHS } : outcome;
  }

  /** Runs a command whose output goes elsewhere, and whose `exit` ends nothing else. */
  private runInBackground(node: ShellNode, from: PathOutputs): void {
    this.state.exits.runInSubshell(() =>
      this.state.within({ reachesStdout: false }, () => this.runCommand(node, from)),
    );
  }

  /** Runs a command that reads the output of those `before` it in a pipeline. */
  private runCommand(node: ShellNode, from: PathOutputs, before: readonly ShellNode[] = []): CommandOutcome {
    const redirects = redirectsOf(node);
    const command = innerCommand(node);
    const reachesStdout = this.state.around.reachesStdout && !redirectsStdout(redirects);
    return this.state.within({ reachesStdout }, () =>
      isSimple(command)
        ? this.runSimple(readSimpleCommand(command), from)
        : this.runCompound(command, from, before, redirects),
    );
  }

  private runCompound(
    command: Exclude<InnerNode, Parameters<typeof readSimpleCommand>[0]>,
    from: PathOutputs,
    before: readonly ShellNode[],
    redirects: readonly Redirect[],
  ): CommandOutcome {
    const { conditionReader, exits, previous, functions } = this.state;
    switch (command.type) {
      case 'If':
        return this.runIf(command, from);
      case 'Case':
        return this.runCase(command, from);
      case 'For':
      case 'ArithmeticFor':
      case 'Select':
      case 'While':
        return this.runLoop(command, from, conditionReader.readLoop(command, before, redirects));
      case 'BraceGroup':
        return this.runList(command.body.commands, previous);
      case 'CompoundList':
        return this.runList(command.commands, previous);
      case 'Subshell':
        return exits.runInSubshell(() => this.runList(command.body.commands, previous));
      case 'Function':
        functions.set(readWord(command.name).text, command.body);
        return succeedWith(from);
      case 'Coproc':
        this.runInBackground(command.body, from);
        return succeedWith(from);
    }
  }

  private runSimple(command: SimpleCommand, from: PathOutputs): CommandOutcome {
    const body = this.state.functions.get(command.name);
    if (body === undefined) return runSimpleCommand(command, from, this.state);
    const unknown = addPossibleTag(from);
    if (this.activeFunctions.has(body)) return { ok: unknown, no: unknown, failed: NO_PATHS };
    this.activeFunctions.add(body);
    const outcome = this.state.exits.runFunction(() =>
      this.state.within({ call: command }, () => this.runCommand(body, from)),
    );
    this.activeFunctions.delete(body);
    return outcome;
  }

  private runIf(command: If, from: PathOutputs): CommandOutcome {
    const { conditionReader, values, around } = this.state;
    const arms = [command, ...command.elif];
    const condition = conditionReader.readTests(arms.flatMap(({ clause }) => clause.commands));
    const outcomes: CommandOutcome[] = [];
    let rest = succeedWith(from);
    for (const { clause, then } of arms) {
      const tested = this.runList(clause.commands, rest);
      outcomes.push(this.runBranch(command, then.commands, command.pos, succeedWith(tested.ok), condition));
      rest = { ...tested, ok: NO_PATHS };
    }
    if (command.else !== undefined)
      outcomes.push(this.runBranch(command, command.else.commands, command.pos, rest, condition));
    else if (!isExhaustive(command, values, around.call))
      outcomes.push(succeedWith(this.state.leaveBranch(command, allOutputs(rest), command.pos, condition)));
    return joinOutcomes(...outcomes);
  }

  private runCase(command: Case, from: PathOutputs): CommandOutcome {
    const { conditionReader, values, around } = this.state;
    const condition = conditionReader.readCaseWord(command.word);
    const outcomes = command.items.map(({ pattern, body, terminator = ';;' }) => {
      // Arms that fall into the next one are rare, and not followed.
      if (terminator !== ';;') this.state.gaveUp = true;
      return this.runBranch(command, body.commands, pattern[0]?.pos ?? command.pos, succeedWith(from), condition);
    });
    if (!isExhaustive(command, values, around.call))
      outcomes.push(succeedWith(this.state.leaveBranch(command, from, command.pos, condition)));
    return joinOutcomes(...outcomes);
  }

  private runLoop(loop: LoopCommand, from: PathOutputs, condition: Condition): CommandOutcome {
    const { state } = this;
    const { keyword, test } = readLoopHeader(loop);
    const tested = this.runList(test, succeedWith(from));
    const [yes, no] = [tested.ok, keyword === 'for' ? tested.ok : unsuccessfulOutputs(tested)];
    const [inside, afterLoop] = keyword === 'until' ? [no, yes] : [yes, no];
    const { hasExit } = state.exits;
    const { iterations, leftByBreak } = state.exits.runLoopBody(() =>
      state.underCondition(condition, () => this.runList(loop.body.commands, succeedWith(inside))),
    );
    return joinIterations({ loop, condition, inside, afterLoop, iterations, leftByBreak, hasExit }, state);
  }

  private runBranch(
    command: InnerNode,
    body: CommandList,
    at: number,
    from: CommandOutcome,
    condition: Condition,
  ): CommandOutcome {
    const start = body[0]?.pos ?? at;
    const outcome = this.state.underCondition(condition, () => this.runList(body, from));
    return mapOutcome(outcome, (outputs) => this.state.leaveBranch(command, outputs, start, condition));
  }
}

/** Applies a simple command that is no call of a function: its output, then `exit`, `return`, `break` or `continue`. */
function runSimpleCommand(command: SimpleCommand, from: PathOutputs, state: InterpreterState): CommandOutcome {
  const outputs = state.around.reachesStdout ? printOutput(command, from, state) : from;
  const trapsPrinting = readTrapHandlers(command).some((name) => state.isPrinting(name));
  if (escapesAnalysis(command) || trapsPrinting) state.gaveUp = true;
  const code = command.args[0]?.text;
  const end = code === undefined ? state.previous : code === '0' ? succeedWith(outputs) : failWith(outputs);
  switch (command.name) {
    case 'exit':
      state.exits.recordExit(end, code, command.at, state.around.conditions);
      return UNREACHED;
    case 'return':
      // A function may test a flag of its own to print only once; whether it did so before is not followed.
      if (state.around.conditions.some((each) => state.conditionReader.dependsOnFlag(each))) state.gaveUp = true;
      state.exits.recordReturn(mapOutcome(end, (each) => markSilent(each, command.at)));
      return UNREACHED;
    case 'break':
      state.exits.recordBreak(outputs);
      return UNREACHED;
    case 'continue':
      state.exits.recordContinue(outputs);
      return UNREACHED;
    default:
      return predictOutcome(command, outputs);
  }
}

function printOutput(command: SimpleCommand, from: PathOutputs, state: InterpreterState): PathOutputs {
  const output = readCommandOutput(command);
  const { conditions, call } = state.around;
  const isUnclosedResult = output.unclosedTags.some(({ name }) => name === 'result');
  const before = output.sure && isUnclosedResult ? appendUnclosedResult(from) : from;
  const printed = output.sure ? appendTags(before, substituteArguments(output.tags, call), conditions) : from;
  if (!output.mayPrintUnknown) return printed;
  return state.isKnown(command, output) ? forgetSilence(printed) : addPossibleTag(printed);
}

/** A loop whose body has been run once. */
interface LoopRun {
  readonly loop: LoopCommand;
  /** The condition of another iteration. */
  readonly condition: Condition;
  /** The output before the body begins. */
  readonly inside: PathOutputs;
  /** The output if the loop ends before any iteration; empty if it never ends by itself. */
  readonly afterLoop: PathOutputs;
  readonly iterations: CommandOutcome;
  readonly leftByBreak: PathOutputs;
  /** True if the script can have ended before the loop. */
  readonly hasExit: boolean;
}

/** Computes the outcome of a loop from one analyzed iteration; tags that differ per iteration are looked for separately. */
function joinIterations(run: LoopRun, state: InterpreterState): CommandOutcome {
  const { loop, condition, inside, afterLoop, iterations, leftByBreak } = run;
  if (afterLoop.size === 0) return succeedWith(leftByBreak);
  const withoutIteration = alwaysIterates(loop) ? NO_PATHS : afterLoop;
  if (!state.isPrinting(loop)) return joinOutcomes(succeedWith(joinOutputs(withoutIteration, leftByBreak)), iterations);
  const empty =
    mayIterateOverNothing(loop) && !run.hasExit
      ? skipLoop(withoutIteration, loop.pos, condition)
      : forgetSilence(withoutIteration);
  const continuesAfterPrinting = [...allOutputs(iterations).keys()].some((key) => !inside.has(key));
  // This loop searches and leaves as soon as it prints. That one item did not match says nothing about the others.
  if (!continuesAfterPrinting) {
    const silent = state.markSilent(inside, loop.pos, condition);
    return joinOutcomes(
      succeedWith(joinOutputs(empty, leftByBreak)),
      mapOutcome(iterations, (outputs) => (outputs.size === 0 ? outputs : silent)),
    );
  }
  const repeatedTag = state.around.reachesStdout ? findTagRepeatedPerIteration(loop) : undefined;
  const printed = (outputs: PathOutputs): PathOutputs =>
    forgetSilence(repeatedTag === undefined ? outputs : repeatTag(outputs, repeatedTag));
  return joinOutcomes(succeedWith(joinOutputs(empty, forgetSilence(leftByBreak))), mapOutcome(iterations, printed));
}
