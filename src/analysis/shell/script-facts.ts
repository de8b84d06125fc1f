import type { Command, List, Part } from './command.ts';
import { Subjects } from './condition.ts';
import { armFor, isExhaustive } from './equality.ts';
import { isAllKnown } from './forms.ts';
import { setsNullglob } from './loops.ts';
import { nameOf, type Speech } from './speech.ts';
import type { Values } from './values.ts';
import { linesOf, printing, type Spot } from './walk.ts';
import type { Word } from './word.ts';

type Case = Extract<Command, { kind: 'case' }>;

/** What holds of a script as a whole, wherever one stands in it. */
export class ScriptFacts {
  readonly subjects: Subjects;
  readonly nullglob: boolean;
  private readonly values: Values;
  private readonly printing: ReadonlySet<Command>;
  private readonly spots: ReadonlyMap<readonly Word[], Spot>;
  private readonly known = new Map<readonly Word[], boolean>();
  /** Whether arguments do not stay where they are. */
  private readonly shifts: boolean;

  constructor(script: List, values: Values) {
    const lines = linesOf(script);
    this.values = values;
    this.subjects = new Subjects(script, values);
    this.nullglob = setsNullglob(script);
    this.printing = printing(script);
    this.spots = new Map(lines.map((line) => [line.words, line]));
    this.shifts = lines.some(({ words }) => ['shift', 'set'].includes(nameOf(words).name));
  }

  /** Whether a command prints a tag, or might. */
  isPrinting(command: Command): boolean {
    return this.printing.has(command);
  }

  /** Whether all that a command prints stands in the script. A function is gone through for each of its calls. */
  isKnown(words: readonly Word[], speech: Speech): boolean {
    const spot = this.spots.get(words);
    const known = this.known.get(words) ?? (speech.sure && spot !== undefined && isAllKnown(speech, spot, this.values));
    this.known.set(words, known);
    return known;
  }

  /** Whether one of the arms of a command is always taken. */
  isTotal(command: Command): boolean {
    return (command.kind === 'case' && command.total) || isExhaustive(command, this.values);
  }

  /** The only arm that a `case` can come to in a function that is called like this; undefined if that cannot be told. */
  onlyArm(command: Case, call: Part | null): Case['arms'][number] | undefined {
    if (call?.command.kind !== 'simple' || this.shifts) return undefined;
    return armFor(command, nameOf(call.command.words).args);
  }
}
