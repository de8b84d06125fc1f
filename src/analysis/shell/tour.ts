import type { Chain, Command, List, Part, Pipeline } from './command.ts';
import { Subjects } from './condition.ts';
import { Exits, type Outcome } from './exits.ts';
import { isEmptyAtTimes, surelyGoesRound, tagOfEachRound } from './loops.ts';
import {
  after,
  afterHalfResult,
  type Condition,
  type Conditions,
  joined,
  NONE,
  printedAgain,
  type Sayings,
  since,
  skipping,
  uncertain,
} from './sayings.ts';
import { goesElsewhere, leavesTheText, nameOf, speechOf } from './speech.ts';
import { printing } from './walk.ts';
import type { Word } from './word.ts';

const NOWHERE: Outcome = { ok: NONE, failed: NONE };
const MOST_SAYINGS = 200;

/** Goes through a script on all of its ways at once. */
export class Tour {
  lost = false;
  readonly exits = new Exits();
  private returns: Sayings = NONE;
  private leaves: Sayings = NONE;
  /** The conditions around the present command. */
  private around: Conditions = [];
  private readonly subjects: Subjects;
  private readonly functions = new Map<string, Part>();
  private readonly active = new Set<string>();
  private readonly printing: ReadonlySet<Command>;

  constructor(script: List) {
    this.printing = printing(script);
    this.subjects = new Subjects(script);
  }

  list(list: List, from: Sayings, heard: boolean): Outcome {
    let outcome: Outcome = { ok: from, failed: NONE };
    for (const chain of list) {
      outcome = this.chain(chain, settled(outcome), heard);
      if (outcome.ok.size + outcome.failed.size > MOST_SAYINGS) this.lost = true;
      if (this.lost) break;
    }
    return outcome;
  }

  private chain({ first, rest }: Chain, from: Sayings, heard: boolean): Outcome {
    let outcome = this.pipeline(first, from, heard);
    const before = [...first.parts];
    for (const { op, pipeline } of rest) {
      const condition = this.subjects.ofParts(before);
      const [taken, left] = op === '&&' ? [outcome.ok, outcome.failed] : [outcome.failed, outcome.ok];
      const next = this.under(condition, () => this.pipeline(pipeline, taken, heard));
      const speaks = pipeline.parts.some(({ command }) => this.printing.has(command));
      const passed = speaks ? since(left, before[0]?.at ?? 0, condition) : left;
      outcome =
        op === '&&'
          ? { ok: next.ok, failed: joined(passed, next.failed) }
          : { ok: joined(passed, next.ok), failed: next.failed };
      before.push(...pipeline.parts);
    }
    return outcome;
  }

  private pipeline({ negated, parts }: Pipeline, from: Sayings, heard: boolean): Outcome {
    const [last] = parts.slice(-1);
    if (last === undefined) return { ok: from, failed: NONE };
    const before = parts.slice(0, -1);
    for (const part of before) this.exits.apart(() => this.part(part, from, false));
    const run = (): Outcome => this.part(last, from, heard, before);
    const { ok, failed } = parts.length > 1 ? this.exits.apart(run) : run();
    return negated ? { ok: failed, failed: ok } : { ok, failed };
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
        const { tags, halves, sure, perhaps } = speechOf(command.words, redirects);
        const defined = this.functions.get(nameOf(command.words).name);
        if (defined !== undefined) return this.functionCall(defined, from, heard);
        const half = sure && halves.some(({ name }) => name === 'result');
        const said = heard && sure ? after(half ? afterHalfResult(from) : from, tags, this.around) : from;
        if (leavesTheText(command.words, redirects) || this.speaksAtLast(command.words)) this.lost = true;
        return this.simple(command.words, at, heard && perhaps ? uncertain(said) : said);
      }
      case 'if':
        return this.conditional(command, at, from, heard);
      case 'case': {
        const condition = this.subjects.ofWord(command.word);
        const outs = command.arms.map((arm) => this.branch(command, arm, at, from, heard, condition));
        return ended([...outs, ...(command.total ? [] : [this.passed(command, from, at, condition)])]);
      }
      case 'loop':
        return this.loop(command, at, from, heard, [...before, { ...part, command: NOTHING }]);
      case 'group': {
        const run = (): Outcome => this.list(command.body, from, heard);
        return command.subshell ? this.exits.apart(run) : run();
      }
      case 'function':
        this.functions.set(command.name, command.body);
        return { ok: from, failed: NONE };
    }
  }

  private simple(words: readonly Word[], at: number, said: Sayings): Outcome {
    const { name, args } = nameOf(words);
    switch (name) {
      case 'exit':
        this.exits.leave(args[0]?.text, at, said, this.around);
        return NOWHERE;
      case 'return':
        this.returns = joined(this.returns, said);
        return NOWHERE;
      case 'break':
      case 'continue':
        this.leaves = joined(this.leaves, said);
        return NOWHERE;
      case 'false':
        return { ok: NONE, failed: said };
    }
    const sure = ['true', ':', 'echo', 'printf'].includes(name) || (name === '' && words.every(isConstant));
    return { ok: said, failed: sure ? NONE : said };
  }

  /** Whether it is a `trap` for a function that prints. */
  private speaksAtLast(words: readonly Word[]): boolean {
    const { name, args } = nameOf(words);
    const called = name === 'trap' ? (args[0]?.text.split(/[\s;&|]+/) ?? []) : [];
    return called.some((each) => {
      const body = this.functions.get(each);
      return body !== undefined && this.printing.has(body.command);
    });
  }

  private functionCall(body: Part, from: Sayings, heard: boolean): Outcome {
    const name = String(body.at);
    if (this.active.has(name)) return { ok: uncertain(from), failed: uncertain(from) };
    const before = this.returns;
    this.returns = NONE;
    this.active.add(name);
    const { ok, failed } = this.part(body, from, heard);
    this.active.delete(name);
    const all = joined(ok, failed, this.returns);
    this.returns = before;
    return { ok: all, failed: all };
  }

  private conditional(command: Extract<Command, { kind: 'if' }>, at: number, from: Sayings, heard: boolean): Outcome {
    const outs: Sayings[] = [];
    const condition = this.subjects.ofTests(command.arms.flatMap(({ test }) => test));
    let rest = from;
    for (const { test, body } of command.arms) {
      const tested = this.list(test, rest, heard);
      outs.push(this.branch(command, body, at, tested.ok, heard, condition));
      rest = tested.failed;
    }
    if (command.otherwise === null) return ended([...outs, this.passed(command, rest, at, condition)]);
    return ended([...outs, this.branch(command, command.otherwise, at, rest, heard, condition)]);
  }

  /** Once round is enough to know what can be printed, but for a tag that is another one in each round. */
  private loop(command: Loop, at: number, from: Sayings, heard: boolean, reads: readonly Part[]): Outcome {
    const condition = this.subjects.ofLoop(command, reads);
    const { ok, failed } = this.list(command.test, from, heard);
    const [inside, past] = command.word === 'until' ? [failed, ok] : [ok, command.word === 'for' ? ok : failed];
    const { isGuarded } = this.exits;
    const before = this.leaves;
    this.leaves = NONE;
    const round = this.under(condition, () => settled(this.list(command.body, inside, heard)));
    const left = this.leaves;
    this.leaves = before;
    if (past.size === 0) return { ok: left, failed: NONE };
    const around = surelyGoesRound(command) ? NONE : past;
    if (!this.printing.has(command)) return { ok: joined(around, round, left), failed: NONE };
    const again = heard ? tagOfEachRound(command) : undefined;
    const rounds = again === undefined ? round : printedAgain(round, again);
    const empty = isEmptyAtTimes(command) && !isGuarded ? at : null;
    const all = joined(skipping(around, empty, condition), skipping(joined(rounds, left), null, condition));
    return { ok: all, failed: NONE };
  }

  private branch(
    command: Command,
    body: List,
    at: number,
    from: Sayings,
    heard: boolean,
    condition: Condition,
  ): Sayings {
    const out = this.under(condition, () => settled(this.list(body, from, heard)));
    return this.passed(command, out, body[0]?.first.parts[0]?.at ?? at, condition);
  }

  /** Leaving a branch without a word, where another one may have spoken. */
  private passed(command: Command, sayings: Sayings, at: number, condition: Condition): Sayings {
    return this.printing.has(command) ? since(sayings, at, condition) : sayings;
  }
}

type Loop = Extract<Command, { kind: 'loop' }>;

/** Stands for a loop where only its redirections matter. */
const NOTHING: Command = { kind: 'simple', words: [] };

const isConstant = ({ inner }: Word): boolean => inner.length === 0;

const settled = ({ ok, failed }: Outcome): Sayings => joined(ok, failed);

const ended = (outs: readonly Sayings[]): Outcome => ({ ok: joined(...outs), failed: NONE });
