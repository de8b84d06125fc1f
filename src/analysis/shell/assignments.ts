import type { Command, List } from './command.ts';
import { type Cut, sliced } from './cut.ts';
import { nameOf } from './speech.ts';
import { type Spot, walk } from './walk.ts';
import type { Word } from './word.ts';

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
  /** Whether anything may have happened to any variable. */
  readonly lost: boolean;
}

/** Commands that give values to the variables that they name. */
const DECLARERS = new Set(['local', 'declare', 'typeset', 'export', 'readonly']);

/** Commands to which the name of a variable is only a word. */
const TALKERS = new Set(['echo', 'printf', 'cat', '[', '[[', 'test', ...DECLARERS]);

/** Looks where the variables of a script get their values. */
export function trafficIn(script: List, text: string): Traffic {
  const assignments: Assignment[] = [];
  const calls: Call[] = [];
  const touched = new Set(countedIn(text));
  walk(script, ({ command }, spot) => {
    assignments.push(...loopAssignment(command, spot));
    if (command.kind !== 'simple') return;
    const { name, args } = nameOf(command.words);
    const declares = DECLARERS.has(name);
    const local = declares && name !== 'export' && spot.within !== null;
    const assigning = declares ? args : command.words.slice(0, command.words.length - args.length);
    for (const word of assigning) {
      const [start, variable = '', changes] = /^(\w+)(\+|\[[^\]]*\])?=/.exec(word.text) ?? [];
      if (changes !== undefined) touched.add(variable);
      else if (start !== undefined) assignments.push({ variable, values: [sliced(word, start.length)], spot, local });
    }
    calls.push({ name, args, spot });
    const isNamed = !TALKERS.has(name) || args[0]?.text === '-v' || args[0]?.text === '-n';
    for (const { text: arg } of isNamed ? args : []) if (/^\w+$/.test(arg)) touched.add(arg);
  });
  return { assignments, calls, touched, lost: calls.some(({ name }) => ['eval', 'source', '.'].includes(name)) };
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
  const names = counting.flatMap((each) => each.match(/[a-z_]\w*/gi) ?? []);
  return [...names, ...[...text.matchAll(/\$\{(\w+):?=/g)].map(([, name = '']) => name)];
}
