import type { Chain, List } from './command.ts';
import type { Wasted } from './exits.ts';
import { well } from './outcome.ts';
import { joined, type Said, type Sayings, SILENCE, spokenUnder } from './sayings.ts';
import { nameOf } from './speech.ts';
import { Tour } from './tour.ts';
import type { Values } from './values.ts';

/** What comes of a script. */
export interface Ways {
  /** What it has printed when it ends well, for each of its ways. */
  readonly said: readonly Said[];
  /** Where it prints a tag and then fails, so that nobody listens to it. */
  readonly wasted: readonly Wasted[];
}

/** The ways through a script; undefined if they cannot be told. */
export function waysThrough(script: List, values: Values): Ways | undefined {
  const tour = new Tour(script, values);
  const { ok, no } = tour.list(script, well(SILENCE), true);
  if (tour.lost) return undefined;
  const said = [...joined(tour.exits.ends, ok, no).values()];
  return { said, wasted: [...tour.exits.wasted, ...wastedByLast(script.at(-1), no)] };
}

/** A test at the very end that guards something, as in `[ -f tmp ] && rm tmp`, makes the script fail if it is not so. */
function wastedByLast(chain: Chain | undefined, no: Sayings): readonly Wasted[] {
  const [guard] = chain?.first.parts ?? [];
  if (chain === undefined || guard?.command.kind !== 'simple' || chain.rest.length === 0) return [];
  const { name } = nameOf(guard.command.words);
  if (!['[', '[[', 'test', '(('].includes(name) || chain.rest.some(({ op }) => op !== '&&')) return [];
  return spokenUnder(no, []).map(({ at }) => ({ tag: at, end: guard.at, by: 'test' }));
}
