import { UNKNOWN } from '../mentions.ts';
import type { Command, List } from './command.ts';
import { type Cut, sliced, sourceOf } from './cut.ts';
import { tokenize } from './lexer.ts';
import { nameOf } from './speech.ts';
import { type Spot, walk } from './walk.ts';
import { type Word, WordReader } from './word.ts';

/** A variable gets one of these values. */
export interface Assignment {
  readonly variable: string;
  readonly values: readonly Cut[];
  readonly spot: Spot;
  /** Whether it is seen in its function only. */
  readonly local: boolean;
}

/** A call of a function, or of any other command. */
export interface Call {
  readonly name: string;
  readonly args: readonly Word[];
  readonly spot: Spot;
}

/** What happens to the variables of a script. */
export interface Traffic {
  readonly assignments: readonly Assignment[];
  readonly calls: readonly Call[];
  /** Variables whose values do not stand in the script: read from somewhere, counted, unset. */
  readonly touched: ReadonlySet<string>;
  /** The values that variables are compared with. */
  readonly comparisons: readonly Compared[];
  /** Whether anything may have happened to any variable. */
  readonly lost: boolean;
}

/** A variable is compared with a value, in a function or none. */
export interface Compared {
  readonly variable: string;
  readonly value: string;
  readonly within: string | null;
}

/** Commands that give values to the variables that they name. */
const DECLARERS = new Set(['local', 'declare', 'typeset', 'export', 'readonly']);

/** Commands to which the name of a variable is only a word. */
const TALKERS = new Set(['echo', 'printf', 'cat', '[', '[[', 'test', ...DECLARERS]);

/** Looks where the variables of a script get their values. */
export function trafficIn(script: List, text: string): Traffic {
  const assignments: Assignment[] = [];
  const calls: Call[] = [];
  const comparisons: Compared[] = [];
  const touched = new Set(countedIn(text));
  walk(script, ({ command }, spot) => {
    assignments.push(...loopAssignment(command, spot));
    for (const each of comparisonsIn(command)) comparisons.push({ ...each, within: spot.within });
    if (command.kind !== 'simple') return;
    const { name, args } = nameOf(command.words);
    const declares = DECLARERS.has(name);
    const local = declares && name !== 'export' && spot.within !== null;
    const assigning = declares ? args : command.words.slice(0, command.words.length - args.length);
    for (const word of assigning) {
      const [start, variable = '', changes] = /^(\w+)(\+|\[[^\]]*\])?=/.exec(word.text) ?? [];
      if (changes !== undefined) touched.add(variable);
      else if (start !== undefined) {
        const value = sliced(word, start.length);
        assignments.push({ variable, values: itemsOf(value, text) ?? [value], spot, local });
      }
    }
    calls.push({ name, args, spot });
    const isNamed = !TALKERS.has(name) || args[0]?.text === '-v' || args[0]?.text === '-n';
    for (const { text: arg } of isNamed ? args : []) if (/^\w+$/.test(arg)) touched.add(arg);
  });
  return {
    assignments,
    calls,
    touched,
    comparisons,
    lost: calls.some(({ name }) => ['eval', 'source', '.'].includes(name)),
  };
}

/** A `for` gives one item after the other to its variable. */
function loopAssignment(command: Command, spot: Spot): readonly Assignment[] {
  if (command.kind !== 'loop' || command.over === null) return [];
  const { variable, items } = command.over;
  const inside = { ...spot, lists: [...spot.lists, command.body], certain: true };
  return [{ variable, values: items ?? [], spot: inside, local: false }];
}

/** The variables that are counted with, or get a value where they are used. */
function countedIn(text: string): readonly string[] {
  const counting = [...text.matchAll(/\(\(([\s\S]*?)\)\)|\blet\s+(.*)/g)].map(([, inner, rest]) => inner ?? rest ?? '');
  // What stands behind a `$` is only read.
  const names = counting.flatMap((each) => each.replace(/\$(?:\{[^}]*\}|\w+)/g, '').match(/[a-z_]\w*/gi) ?? []);
  return [...names, ...[...text.matchAll(/\$\{(\w+):?=/g)].map(([, name = '']) => name)];
}

/** The items of a list in brackets, `(A B)`; undefined for any other value. */
function itemsOf(value: Cut, script: string): readonly Cut[] | undefined {
  const open = sourceOf(value, 0);
  if (value.text !== UNKNOWN || script[open] !== '(') return undefined;
  const end = new WordReader(script).closing(open, '(', ')');
  const tokens = end === undefined ? undefined : tokenize(script.slice(0, end - 1), open + 1);
  const words = tokens?.filter((token) => token.kind === 'word') ?? [];
  // An item may have a key: `[bug]=FIX.md`.
  return words.map((word) => sliced(word, /^\[[^\]]*\]=/.exec(word.text)?.[0].length ?? 0));
}

/** What is compared with the value of a variable in a test or a `case`. */
function comparisonsIn(command: Command): readonly Omit<Compared, 'within'>[] {
  const words = command.kind === 'simple' ? command.words : [];
  const [asked, others] =
    command.kind === 'case'
      ? [command.word === null ? [] : [command.word], command.arms.flatMap(({ patterns }) => patterns)]
      : [words, ['[', '[[', 'test'].includes(nameOf(words).name) ? words : []];
  const variables = asked.flatMap(({ holes }) => holes.map(({ variable }) => variable));
  return variables.flatMap((variable) => others.map(({ text }) => ({ variable, value: text })));
}
