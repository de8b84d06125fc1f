import { placeOf } from '../scenario/choose.ts';
import type { Answer, Part, Parts } from '../scenario/scenario.ts';
import type { Review } from './difference.ts';
import type { Piece } from './repertoire.ts';

/**
 * Warns of answers that were never used. A scenario that has failed went another way than its author thought, so nothing is
 * said about its answers. Those that several scenarios share are looked at when all of a file have passed.
 */
export class Leftovers {
  private readonly used = new Map<Piece, ReadonlySet<Answer>>();
  private readonly passed = new Map<string, Piece[]>();

  note(piece: Piece, used: ReadonlySet<Answer>): void {
    this.used.set(piece, used);
  }

  /** A verdict with what it has to say about this; verdicts must come in the order of their file. */
  addTo<V extends Review & { readonly piece: Piece }>(verdict: V): V {
    const { piece, differences, warnings } = verdict;
    if (differences.length > 0) return verdict;
    const { own, siblings } = piece.rehearsal;
    const all = [...(this.passed.get(piece.file) ?? []), piece];
    this.passed.set(piece.file, all);
    const left = [
      ...leftIn(own, this.usedBy([piece]), 'was never used'),
      ...(all.length === siblings ? this.leftInFile(all) : []),
    ];
    return { ...verdict, warnings: [...warnings, ...left] };
  }

  private leftInFile(pieces: readonly Piece[]): readonly string[] {
    // Scenarios for different workflows share what is there for each of them.
    const shared = new Map(pieces.flatMap(({ rehearsal }) => [...rehearsal.shared]));
    return leftIn(shared, this.usedBy(pieces), 'is used by no scenario');
  }

  private usedBy(pieces: readonly Piece[]): ReadonlySet<Answer> {
    return new Set(pieces.flatMap((piece) => [...(this.used.get(piece) ?? [])]));
  }
}

function leftIn(parts: Parts, used: ReadonlySet<Answer>, fate: string): readonly string[] {
  return [...parts].flatMap(([state, part]) => {
    const answers = answersOf(part);
    const left = answers.filter((answer) => !used.has(answer)).length;
    if (left === 0) return [];
    const some = left === answers.length ? 'the answers' : `${left} of the ${answers.length} answers`;
    const which = answers.length === 1 ? 'the answer' : some;
    return [`${placeOf(part)}: ${which} for ${state} ${left === 1 ? fate : pluralOf(fate)}`];
  });
}

const answersOf = ({ cases }: Part): readonly Answer[] => cases.flatMap(({ visits }) => visits.flat());

const pluralOf = (fate: string): string => fate.replace(/^was/, 'were').replace(/^is/, 'are');
