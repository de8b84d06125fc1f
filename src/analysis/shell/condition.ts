import type { Command, List, Part } from './command.ts';
import type { Condition } from './sayings.ts';
import { nameOf } from './speech.ts';
import { linesOf, type Spot, walk } from './walk.ts';
import type { Word } from './word.ts';

type Loop = Extract<Command, { kind: 'loop' }>;

/** Says what the conditions of a script are about. A variable is also about what its value hangs on. */
export class Subjects {
  /** What a variable gets its values of, and under which conditions. */
  private readonly kin = new Map<string, Set<string>>();

  constructor(script: List) {
    walk(script, ({ command }, spot) => {
      if (command.kind === 'loop' && command.over !== null) this.relate(command.over.variable, this.aroundOf(spot));
      if (command.kind !== 'simple') return;
      for (const word of command.words) {
        const [, variable] = /^(\w+)(?:\[[^\]]*\])?\+?=/.exec(word.text) ?? [];
        if (variable !== undefined) this.relate(variable, [...word.asks.flatMap(wordsIn), ...this.aroundOf(spot)]);
      }
    });
  }

  /** The condition that these commands make up. */
  ofTests(test: List): Condition {
    return this.withKin(aboutList(test));
  }

  /** The condition of what follows them behind `&&` or `||`. */
  ofParts(parts: readonly Part[]): Condition {
    return this.withKin(aboutParts(parts));
  }

  /** The condition of the arms of a `case`. */
  ofWord(word: Word | null): Condition {
    return this.withKin(word === null ? [] : aboutWord(word));
  }

  /** The condition of another round of a loop that reads these. */
  ofLoop(loop: Loop, reads: readonly Part[]): Condition {
    return this.withKin([...aboutLoop(loop), ...aboutParts(reads)]);
  }

  private relate(variable: string, subjects: readonly string[]): void {
    const known = this.kin.get(variable) ?? new Set();
    this.kin.set(variable, known);
    for (const subject of subjects) known.add(subject);
  }

  /** What decides whether a spot is come to. */
  private aroundOf({ around, behind }: Spot): readonly string[] {
    return [...around.flatMap(aboutCommand), ...aboutParts(behind)];
  }

  private withKin(subjects: readonly string[]): Condition {
    const all = new Set(subjects);
    // A set that grows is walked to its new end.
    for (const subject of all) for (const kin of this.kin.get(subject) ?? []) all.add(kin);
    return all;
  }
}

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

/** What is redirected to the commands counts as well. */
const aboutParts = (parts: readonly Part[]): readonly string[] => [
  ...aboutList([{ first: { negated: false, parts }, rest: [] }]),
  ...parts.flatMap(({ redirects }) => redirects.flatMap(({ op, to }) => (op.startsWith('<') ? aboutWord(to) : []))),
];

/** Commands that do something and hardly ever decide anything. */
const DEEDS = new Set('echo printf exit return break continue mkdir rm cp mv touch cd sleep : true false'.split(' '));

function aboutWords(words: readonly Word[]): readonly string[] {
  const { name, args } = nameOf(words);
  if (DEEDS.has(name)) return [];
  if (name === '') return words.flatMap(({ asks }) => asks.flatMap(wordsIn));
  return args.length === 0 ? [name] : args.flatMap(aboutWord);
}

/** Operators, options and numbers say how things are compared, not which. */
const COMPARISON = /^(?:-.*|\d+|[!=<>]+|=~|\]{1,2})$/;

function aboutWord({ text, asks }: Word): readonly string[] {
  return asks.length > 0 || text === '' || COMPARISON.test(text) ? asks.flatMap(wordsIn) : [text];
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
