import type { Command, List, Part, Redirect } from './command.ts';
import { goesElsewhere, speechOf } from './speech.ts';
import type { Word } from './word.ts';

/** A simple command of a script, wherever it stands in it. */
export interface Line {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** Whether what it prints reaches the standard output or the next command of a pipeline. */
  readonly heard: boolean;
}

/** Every simple command of a script, in order. */
export function linesOf(script: List): readonly Line[] {
  const lines: Line[] = [];
  visit(script, true, (line) => lines.push(line));
  return lines;
}

/** The commands that print a tag, or might, and those in which such a one stands. */
export function printing(script: List): ReadonlySet<Command> {
  const found = new Set<Command>();
  visit(script, true, ({ words, redirects, heard }, around) => {
    if (!heard) return;
    const { tags, halves, perhaps } = speechOf(words, redirects);
    if (tags.length > 0 || halves.length > 0 || perhaps) for (const command of around) found.add(command);
  });
  return found;
}

type Look = (line: Line, around: readonly Command[]) => void;

function visit(list: List, heard: boolean, look: Look, around: readonly Command[] = []): void {
  for (const { first, rest } of list) {
    for (const { parts } of [first, ...rest.map(({ pipeline }) => pipeline)]) {
      for (const part of parts) visitPart(part, heard, look, around);
    }
  }
}

function visitPart({ command, redirects }: Part, outside: boolean, look: Look, around: readonly Command[]): void {
  const heard = outside && !goesElsewhere(redirects);
  if (command.kind === 'simple') look({ words: command.words, redirects, heard }, [...around, command]);
  else if (command.kind === 'function') visitPart(command.body, heard, look, []);
  else for (const list of listsIn(command)) visit(list, heard, look, [...around, command]);
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
