import type { Command, List, Part, Redirect } from './command.ts';
import { goesElsewhere, speechOf } from './speech.ts';
import type { Word } from './word.ts';

/** A simple command of a script, wherever it stands in it. */
export interface Line {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** Whether what it prints reaches the standard output or the next command of a pipeline. */
  readonly heard: boolean;
  /** Whether it is the next command of a pipeline that reads it. */
  readonly piped: boolean;
  /** Whether it, or something around it, copies an output to a number of its own, as in `{ … >&3; } 3>&1`. */
  readonly copies: boolean;
  /** The function in which it stands, if any. */
  readonly within: string | null;
}

/** Every simple command of a script, in order. */
export function linesOf(script: List): readonly Line[] {
  const lines: Line[] = [];
  visit(script, TOP, (line) => lines.push(line));
  return lines;
}

/** The commands that print a tag, or might, and those in which such a one stands. */
export function printing(script: List): ReadonlySet<Command> {
  const found = new Set<Command>();
  visit(script, TOP, ({ words, redirects, heard }, around) => {
    if (!heard) return;
    const { tags, halves, perhaps } = speechOf(words, redirects);
    if (tags.length > 0 || halves.length > 0 || perhaps) for (const command of around) found.add(command);
  });
  return found;
}

type Look = (line: Line, around: readonly Command[]) => void;

/** Where a command stands. */
type Setting = Pick<Line, 'heard' | 'piped' | 'copies' | 'within'>;

const TOP: Setting = { heard: true, piped: false, copies: false, within: null };

function visit(list: List, setting: Setting, look: Look, around: readonly Command[] = []): void {
  for (const { first, rest } of list) {
    for (const { parts } of [first, ...rest.map(({ pipeline }) => pipeline)]) {
      for (const [index, part] of parts.entries()) {
        const piped = setting.piped || index < parts.length - 1;
        visitPart(part, { ...setting, piped }, look, around);
      }
    }
  }
}

function visitPart({ command, redirects }: Part, outside: Setting, look: Look, around: readonly Command[]): void {
  const copies = outside.copies || redirects.some(({ op, fd }) => op === '>&' && Number(fd) > 2);
  const setting = { ...outside, heard: outside.heard && !goesElsewhere(redirects), copies };
  if (command.kind === 'simple') look({ words: command.words, redirects, ...setting }, [...around, command]);
  else if (command.kind === 'function') visitPart(command.body, { ...setting, within: command.name }, look, []);
  else for (const list of listsIn(command)) visit(list, setting, look, [...around, command]);
}

function listsIn(command: Exclude<Command, { kind: 'simple' | 'function' }>): readonly List[] {
  switch (command.kind) {
    case 'if':
      return [...command.arms.flatMap(({ test, body }) => [test, body]), command.otherwise ?? []];
    case 'case':
      return command.arms;
    case 'loop':
      return [command.test, command.body];
    case 'group':
      return [command.body];
  }
}
