import { withArguments } from './arguments.ts';
import type { Chain, Command, List, Part, Pipeline } from './command.ts';
import { Exits } from './exits.ts';
import { isEmptyAtTimes, type Loop, surelyGoesRound, tagOfEachRound, tagsOfRounds } from './loops.ts';
import { badly, either, mapped, NOWHERE, type Outcome, settled, unmet, well } from './outcome.ts';
import {
  after,
  afterHalfResult,
  type Condition,
  type Conditions,
  isAssured,
  joined,
  NONE,
  printedAgain,
  type Sayings,
  since,
  skipped,
  uncertain,
  unsure,
} from './sayings.ts';
import { ScriptFacts } from './script-facts.ts';
import { goesElsewhere, leavesTheText, nameOf, speechOf, trapped } from './speech.ts';
import { outcomeOf, withCode } from './status.ts';
import type { Values } from './values.ts';
import type { Word } from './word.ts';

const MOST_SAYINGS = 200;

/** Goes through a script on all of its ways at once. */
export class Tour {
  lost = false;
  readonly exits = new Exits();
  private breaks: Sayings = NONE;
  private continues: Sayings = NONE;
  /** The conditions around the present command. */
  private around: Conditions = [];
  /** What came of the command before: an `exit` without a code goes by that. */
  private previous: Outcome = NOWHERE;
  private readonly facts: ScriptFacts;
  private readonly functions = new Map<string, Part>();
  private readonly active = new Set<Part>();
  /** What did not hold, or the function would have been left: something that it has written down itself. */
  private unflagged: Conditions = [];
  /** The call of the function that is being gone through. */
  private call: Part | null = null;

  constructor(script: List, values: Values) {
    this.facts = new ScriptFacts(script, values);
  }

  list(list: List, from: Outcome, heard: boolean): Outcome {
    let outcome = from;
    for (const chain of list) {
      this.previous = outcome;
      outcome = this.chain(chain, settled(outcome), heard);
      if (settled(outcome).size > MOST_SAYINGS) this.lost = true;
      if (this.lost) break;
    }
    return outcome;
  }

  private chain({ first, rest }: Chain, from: Sayings, heard: boolean): Outcome {
    let outcome = this.pipeline(first, from, heard);
    const before = [...first.parts];
    for (const { op, pipeline } of rest) {
      const asked = this.facts.subjects.ofParts(before);
      const condition = op === '&&' ? asked : { ...asked, is: null };
      const [taken, left] = op === '&&' ? [outcome.ok, { ...outcome, ok: NONE }] : [unmet(outcome), well(outcome.ok)];
      this.previous = op === '&&' ? well(taken) : badly(taken);
      const next = this.under(condition, () => this.pipeline(pipeline, taken, heard));
      const speaks = pipeline.parts.some(({ command }) => this.facts.isPrinting(command));
      const at = before[0]?.at ?? 0;
      outcome = either(next, speaks ? mapped(left, (sayings) => this.passing(sayings, at, condition)) : left);
      before.push(...pipeline.parts);
    }
    return outcome;
  }

  private pipeline({ negated, parts }: Pipeline, from: Sayings, heard: boolean): Outcome {
    const [last] = parts.slice(-1);
    if (last === undefined) return well(from);
    const before = parts.slice(0, -1);
    const { previous } = this;
    for (const part of before) this.exits.apart(() => this.part(part, from, false));
    this.previous = previous;
    const run = (): Outcome => this.part(last, from, heard, before);
    const outcome = parts.length > 1 ? this.exits.apart(run) : run();
    return negated ? { ok: unmet(outcome), no: outcome.ok, failed: NONE } : outcome;
  }

  /** Runs something that depends on a condition. */
  private under<T>(condition: Condition, run: () => T): T {
    const before = this.around;
    this.around = [...before, condition];
    const outcome = run();
    this.around = before;
    return outcome;
  }

  /** Runs a command that reads what those before it in a pipeline print. */
  private part(part: Part, from: Sayings, outside: boolean, before: readonly Part[] = []): Outcome {
    const { at, command, redirects } = part;
    const heard = outside && !goesElsewhere(redirects);
    switch (command.kind) {
      case 'simple': {
        const defined = this.functions.get(nameOf(command.words).name);
        return defined === undefined ? this.simple(part, from, heard) : this.functionCall(defined, part, from, heard);
      }
      case 'if':
        return this.conditional(command, at, from, heard);
      case 'case':
        return this.choice(command, at, from, heard);
      case 'loop':
        return this.loop(command, at, from, heard, [...before, { ...part, command: NOTHING }]);
      case 'group': {
        const run = (): Outcome => this.list(command.body, this.previous, heard);
        return command.subshell ? this.exits.apart(run) : run();
      }
      case 'function':
        this.functions.set(command.name, command.body);
        return well(from);
    }
  }

  private simple({ at, command, redirects }: Part, from: Sayings, heard: boolean): Outcome {
    const words = command.kind === 'simple' ? command.words : [];
    const speech = speechOf(words, redirects);
    const { halves, sure, perhaps } = speech;
    const tags = withArguments(speech, this.call);
    const half = sure && halves.some(({ name }) => name === 'result');
    const printed =
      heard && sure ? after(half ? afterHalfResult(from) : from, tags, [...this.around, ...this.unflagged]) : from;
    const said =
      heard && perhaps ? (this.facts.isKnown(words, speech) ? unsure(printed) : uncertain(printed)) : printed;
    if (leavesTheText(words, redirects) || this.speaksAtLast(words)) this.lost = true;
    const { name, args } = nameOf(words);
    const code = args[0]?.text;
    switch (name) {
      case 'exit':
        this.exits.leave(code === undefined ? this.previous : withCode(code, said), code, at, this.around);
        return NOWHERE;
      case 'return': {
        const flags = this.around.filter((condition) => this.facts.subjects.isFlagged(condition));
        const isFlagged = flags.length > 0;
        this.unflagged = [...this.unflagged, ...flags];
        const back = code === undefined ? this.previous : withCode(code, said);
        this.exits.goBack(mapped(back, (each) => (isFlagged ? unsure(each) : since(each, at))));
        return NOWHERE;
      }
      case 'break':
        this.breaks = joined(this.breaks, said);
        return NOWHERE;
      case 'continue':
        this.continues = joined(this.continues, said);
        return NOWHERE;
    }
    return outcomeOf(words, said);
  }

  /** Whether it is a `trap` for a function that prints. */
  private speaksAtLast(words: readonly Word[]): boolean {
    const bodies = trapped(words).flatMap((name) => this.functions.get(name) ?? []);
    return bodies.some(({ command }) => this.facts.isPrinting(command));
  }

  private functionCall(body: Part, call: Part, from: Sayings, heard: boolean): Outcome {
    const unknown = uncertain(from);
    if (this.active.has(body)) return { ok: unknown, no: unknown, failed: NONE };
    const { call: outer, unflagged } = this;
    this.call = call;
    this.active.add(body);
    const outcome = this.exits.within(() => this.part(body, from, heard));
    this.active.delete(body);
    this.call = outer;
    this.unflagged = unflagged;
    return outcome;
  }

  private conditional(command: Extract<Command, { kind: 'if' }>, at: number, from: Sayings, heard: boolean): Outcome {
    const outs: Outcome[] = [];
    const condition = this.facts.subjects.ofTests(command.arms.flatMap(({ test }) => test));
    const branch = (body: List, start: Outcome): Outcome => this.branch(command, body, at, start, heard, condition);
    let rest = well(from);
    for (const { test, body } of command.arms) {
      const tested = this.list(test, rest, heard);
      outs.push(branch(body, well(tested.ok)));
      rest = { ...tested, ok: NONE };
    }
    if (command.otherwise !== null) outs.push(branch(command.otherwise, rest));
    else if (!this.facts.isTotal(command)) outs.push(well(this.passed(command, settled(rest), at, condition)));
    return either(...outs);
  }

  private choice(command: Extract<Command, { kind: 'case' }>, at: number, from: Sayings, heard: boolean): Outcome {
    const condition = this.facts.subjects.ofWord(command.word);
    const only = this.facts.onlyArm(command, this.call);
    if (only !== undefined) return this.branch(command, only.body, at, well(from), heard, condition);
    const outs: Outcome[] = [];
    let [matching, falling] = [from, NONE];
    for (const { patterns, body, end } of command.arms) {
      const start = patterns[0]?.at ?? at;
      const out = this.branch(command, body, start, well(joined(matching, falling)), heard, condition);
      falling = end === ';&' ? settled(out) : NONE;
      if (end === ';;&') matching = joined(matching, settled(out));
      if (end === ';;') outs.push(out);
    }
    const past = this.facts.isTotal(command) ? NONE : this.passed(command, matching, at, condition);
    return either(...outs, well(joined(past, falling)));
  }

  /** Once round is enough to know what can be printed, but for a tag that is another one in each round. */
  private loop(command: Loop, at: number, from: Sayings, heard: boolean, reads: readonly Part[]): Outcome {
    const condition = this.facts.subjects.ofLoop(command, reads);
    const tested = this.list(command.test, well(from), heard);
    const [yes, no] = [tested.ok, command.word === 'for' ? tested.ok : unmet(tested)];
    const [inside, past] = command.word === 'until' ? [no, yes] : [yes, no];
    const { breaks, continues } = this;
    const { isGuarded } = this.exits;
    this.breaks = NONE;
    this.continues = NONE;
    const body = this.under(condition, () => this.list(command.body, well(inside), heard));
    const rounds = either(body, well(this.continues));
    const left = this.breaks;
    this.breaks = breaks;
    this.continues = continues;
    if (past.size === 0) return well(left);
    const around = surelyGoesRound(command) ? NONE : past;
    if (!this.facts.isPrinting(command)) return either(well(joined(around, left)), rounds);
    const empty =
      isEmptyAtTimes(command, this.facts.nullglob) && !isGuarded ? skipped(around, at, condition) : unsure(around);
    // Whoever prints in it may leave it at once, as one who looks for something does; or goes on to the next.
    const goesOn = [...settled(rounds).keys()].some((said) => !inside.has(said));
    if (!goesOn) {
      return either(
        well(joined(empty, left)),
        // What a round asked about one item says nothing about all of them.
        mapped(rounds, (each) => (each.size === 0 ? each : this.passing(inside, at, condition))),
      );
    }
    const again = heard ? (tagOfEachRound(command) ?? tagsOfRounds(command, condition, settled(rounds))) : undefined;
    const printed = (each: Sayings): Sayings => unsure(again === undefined ? each : printedAgain(each, again));
    return either(well(joined(empty, unsure(left))), mapped(rounds, printed));
  }

  private branch(
    command: Command,
    body: List,
    at: number,
    from: Outcome,
    heard: boolean,
    condition: Condition,
  ): Outcome {
    const start = body[0]?.first.parts[0]?.at ?? at;
    const out = this.under(condition, () => this.list(body, from, heard));
    return mapped(out, (sayings) => this.passed(command, sayings, start, condition));
  }

  /** Leaving a branch without a word, where another one may have spoken. */
  private passed(command: Command, sayings: Sayings, at: number, condition: Condition): Sayings {
    return this.facts.isPrinting(command) ? this.passing(sayings, at, condition) : sayings;
  }

  private passing(sayings: Sayings, at: number, condition: Condition): Sayings {
    return isAssured(condition, this.exits.guards) ? unsure(sayings) : since(sayings, at, condition);
  }
}

/** Stands for a loop where only its redirections matter. */
const NOTHING: Command = { kind: 'simple', words: [] };
