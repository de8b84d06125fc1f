import { UNKNOWN } from '../mentions.ts';
import type { Command, List, Part } from './command.ts';
import { equalityIn, isExistence } from './equality.ts';
import type { Condition } from './sayings.ts';
import { nameOf } from './speech.ts';
import type { Values } from './values.ts';
import { linesOf, type Spot, walk } from './walk.ts';
import type { Word } from './word.ts';

type Loop = Extract<Command, { kind: 'loop' }>;

/** Says what the conditions of a script are about. A variable or a file is also about what made it what it is. */
export class Subjects {
  /** What a variable gets its values of, and under which conditions. */
  private readonly kin = new Map<string, Set<string>>();
  /** The variables in which functions write something down. */
  private readonly flags = new Set<string>();
  private readonly values: Values;

  constructor(script: List, values: Values) {
    this.values = values;
    walk(script, ({ command, redirects }, spot) => {
      const around = aroundOf(spot);
      if (command.kind === 'loop' && command.over !== null) this.relate(command.over.variable, around);
      if (command.kind !== 'simple') return;
      for (const word of command.words) {
        const [, variable] = /^(\w+)(?:\[[^\]]*\])?\+?=/.exec(word.text) ?? [];
        if (variable === undefined) continue;
        this.relate(variable, [...word.asks.flatMap(wordsIn), ...around]);
        if (spot.within !== null && word.asks.length === 0 && nameOf(command.words).name === '')
          this.flags.add(variable);
      }
      if (around.length === 0) return;
      // What is counted here says later how often one was here.
      const [first] = command.words;
      if (first?.text === '((') for (const variable of first.asks) this.relate(variable, around);
      // A file that is made here says later that one was here.
      const { name, args } = nameOf(command.words);
      const files = [...(MAKERS.has(name) ? args : []), ...redirects.map(({ to }) => to)];
      for (const file of files.flatMap(aboutWord)) this.relate(file, around);
    });
  }

  /** The condition that these commands make up. */
  ofTests(test: List): Condition {
    const [only, second] = linesOf(test);
    const words = second === undefined ? only?.words : undefined;
    const equality = words === undefined || test[0]?.first.negated !== false ? null : equalityIn(words);
    return {
      about: this.withKin(aboutList(test)),
      is: equality === null ? null : { ...equality, of: this.values.everyValueOf(equality.subject) },
      isWeak: words !== undefined && isExistence(words),
    };
  }

  /** The condition of what follows them behind `&&` or `||`. */
  ofParts(parts: readonly Part[]): Condition {
    const condition = this.ofTests(listOf(parts));
    return { ...condition, about: this.withKin([...condition.about, ...parts.flatMap(aboutInput)]) };
  }

  /** The condition of the arms of a `case`. */
  ofWord(word: Word | null): Condition {
    return { about: this.withKin(word === null ? [] : aboutWord(word)), is: null, isWeak: false };
  }

  /** The condition of another round of a loop that reads these. */
  ofLoop(loop: Loop, reads: readonly Part[]): Condition {
    const { about } = this.ofParts(reads);
    return { about: this.withKin([...aboutLoop(loop), ...about]), is: null, isWeak: false };
  }

  /** Whether it hangs on something that a function has set before. */
  isFlagged({ about }: Condition): boolean {
    return [...about].some((subject) => this.flags.has(subject));
  }

  private relate(subject: string, others: readonly string[]): void {
    const known = this.kin.get(subject) ?? new Set();
    this.kin.set(subject, known);
    for (const other of others) known.add(other);
  }

  private withKin(subjects: readonly string[]): ReadonlySet<string> {
    const all = new Set(subjects);
    // A set that grows is walked to its new end.
    for (const subject of all) for (const kin of this.kin.get(subject) ?? []) all.add(kin);
    return all;
  }
}

/** Commands that leave a trace in the file system. */
const MAKERS = new Set(['touch', 'rm', 'mkdir', 'rmdir', 'cp', 'mv', 'ln', 'tee']);

const listOf = (parts: readonly Part[]): List => [{ first: { negated: false, parts }, rest: [] }];

/** What decides whether a spot is come to. */
const aroundOf = ({ around, behind }: Spot): readonly string[] => [
  ...around.flatMap(aboutCommand),
  ...aboutList(listOf(behind)),
  ...behind.flatMap(aboutInput),
];

function aboutCommand(command: Command): readonly string[] {
  if (command.kind === 'if') return command.arms.flatMap(({ test }) => aboutList(test));
  if (command.kind === 'case') return command.word === null ? [] : aboutWord(command.word);
  return command.kind === 'loop' ? aboutLoop(command) : [];
}

const aboutLoop = ({ test, over }: Loop): readonly string[] => [
  ...aboutList(test),
  ...(over?.items ?? []).flatMap(aboutWord),
];

const aboutList = (list: List): readonly string[] => linesOf(list).flatMap(({ words }) => aboutWords(words));

/** What is redirected to a command. */
const aboutInput = ({ redirects }: Part): readonly string[] =>
  redirects.flatMap(({ op, to }) => (op.startsWith('<') ? aboutWord(to) : []));

/** Commands that do something and hardly ever decide anything. */
const DEEDS = new Set('echo printf exit return break continue mkdir rm cp mv touch cd sleep : true false'.split(' '));

function aboutWords(words: readonly Word[]): readonly string[] {
  const { name, args } = nameOf(words);
  if (DEEDS.has(name)) return [];
  if (name === '' || name === '((') return words.flatMap(({ asks }) => asks.flatMap(wordsIn));
  return args.length === 0 ? [name] : args.flatMap(aboutWord);
}

/** Operators, options and numbers say how things are compared, not which. */
const COMPARISON = /^(?:-.*|\d+|[!=<>]+|=~|\]{1,2})$/;

/** A path with a variable in it is a file, not the variable. */
function aboutWord({ text, asks }: Word): readonly string[] {
  if (text === '' || COMPARISON.test(text)) return asks.flatMap(wordsIn);
  const isPath = text.includes('/') && text.includes(UNKNOWN);
  return asks.length === 0 || isPath ? [[text, ...asks].join(' ')] : asks.flatMap(wordsIn);
}

/** What is asked for: a variable, or a command and what it is given. */
function wordsIn(asked: string): readonly string[] {
  const given = asked.split(/[|;&\n]+/).flatMap((command) =>
    command
      .trim()
      .split(/[\s<>"'$(){}]+/)
      .slice(1),
  );
  return [asked, ...given.filter((word) => word !== '' && !COMPARISON.test(word))];
}
