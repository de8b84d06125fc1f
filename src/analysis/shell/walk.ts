import type { Command, List, Part, Redirect } from './command.ts';
import { goesElsewhere, nameOf, speechOf } from './speech.ts';
import type { Word } from './word.ts';

/** Where a command stands. */
export interface Spot {
  /** Whether what it prints reaches the standard output or the next command of a pipeline. */
  readonly heard: boolean;
  /** Whether it is the next command of a pipeline that reads it. */
  readonly piped: boolean;
  /** Whether it, or something around it, copies an output to a number of its own, as in `{ … >&3; } 3>&1`. */
  readonly copies: boolean;
  /** The function in which it stands, if any. */
  readonly within: string | null;
  /** Its number, in the order of the script. */
  readonly order: number;
  /** The lists in which it stands, the innermost last. */
  readonly lists: readonly List[];
  /** Whether it is run whenever the innermost list is gone through to there. */
  readonly certain: boolean;
  /** The commands in which it stands, up to itself; those around a function are none of its own. */
  readonly around: readonly Command[];
  /** The commands before it, and before those around it, in chains of `&&` and `||`. */
  readonly behind: readonly Part[];
}

/** A simple command of a script, wherever it stands in it. */
export interface Line extends Spot {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
}

/** Every simple command of a script, in order. */
export function linesOf(script: List): readonly Line[] {
  const lines: Line[] = [];
  walk(script, ({ command, redirects }, spot) => {
    if (command.kind === 'simple') lines.push({ words: command.words, redirects, ...spot });
  });
  return lines;
}

/** The commands that print a tag, or might, those in which such a one stands, and calls of functions that do. */
export function printing(script: List): ReadonlySet<Command> {
  const found = new Set<Command>();
  const functions = new Set<string | null>();
  const heard = linesOf(script).filter((line) => line.heard);
  const isPrinting = ({ words, redirects }: Line): boolean => {
    const { tags, halves, perhaps } = speechOf(words, redirects);
    return tags.length > 0 || halves.length > 0 || perhaps || functions.has(nameOf(words).name);
  };
  let known: number;
  do {
    known = found.size;
    for (const line of heard.filter(isPrinting)) {
      functions.add(line.within);
      for (const command of line.around) found.add(command);
    }
  } while (found.size > known);
  return found;
}

type Look = (part: Part, spot: Spot) => void;

/** Shows every command of a script, from its beginning to its end. */
export function walk(script: List, look: Look): void {
  let order = 0;
  visit(script, TOP, (part, spot) => look(part, { ...spot, order: order++ }));
}

const TOP: Spot = {
  order: 0,
  heard: true,
  piped: false,
  copies: false,
  within: null,
  lists: [],
  certain: true,
  around: [],
  behind: [],
};

function visit(list: List, outside: Spot, look: Look): void {
  const lists = [...outside.lists, list];
  for (const { first, rest } of list) {
    let { behind } = outside;
    for (const pipeline of [first, ...rest.map((each) => each.pipeline)]) {
      const { parts } = pipeline;
      const certain = pipeline === first && parts.length === 1;
      for (const [index, part] of parts.entries()) {
        const piped = outside.piped || index < parts.length - 1;
        visitPart(part, { ...outside, lists, certain, piped, behind }, look);
      }
      behind = [...behind, ...parts];
    }
  }
}

function visitPart(part: Part, outside: Spot, look: Look): void {
  const { command, redirects } = part;
  const spot = {
    ...outside,
    copies: outside.copies || redirects.some(({ op, fd }) => op === '>&' && Number(fd) > 2),
    heard: outside.heard && !goesElsewhere(redirects),
    around: [...outside.around, command],
  };
  look(part, spot);
  if (command.kind === 'function')
    visitPart(command.body, { ...spot, within: command.name, lists: [], around: [], behind: [] }, look);
  else if (command.kind !== 'simple') for (const list of listsIn(command)) visit(list, spot, look);
}

function listsIn(command: Exclude<Command, { kind: 'simple' | 'function' }>): readonly List[] {
  switch (command.kind) {
    case 'if':
      return [...command.arms.flatMap(({ test, body }) => [test, body]), command.otherwise ?? []];
    case 'case':
      return command.arms.map(({ body }) => body);
    case 'loop':
      return [command.test, command.body];
    case 'group':
      return [command.body];
  }
}
