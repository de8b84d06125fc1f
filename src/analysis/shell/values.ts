import { UNKNOWN } from '../mentions.ts';
import { type Assignment, type Traffic, trafficIn } from './assignments.ts';
import type { List } from './command.ts';
import { type Cut, type Hole, replaced, sourceOf } from './cut.ts';
import type { Spot } from './walk.ts';

/** The texts that a text with variables in it can become, and whether those are all. */
export interface Filled {
  readonly texts: readonly Text[];
  readonly all: boolean;
}

/** One of them, and where the value stands that was put in. */
export interface Text {
  readonly cut: Cut;
  readonly source: number;
}

const UNFILLED: Filled = { texts: [], all: false };

/** More values than these are no choice that an author has written down. */
const MOST_TEXTS = 32;

/** Values that come out of other variables are followed this far. */
const DEEPEST = 6;

/** What is expanded further when it stands without quotes. */
const PATTERN = /[*?[\]{}~]/;

/** What the variables of a script hold, as far as their values stand in it. */
export class Values {
  private readonly traffic: Traffic;
  private depth = 0;

  constructor(script: List, text: string) {
    this.traffic = trafficIn(script, text);
  }

  /** Fills in the variables of a text that stands at this spot; one whose value is not known stays as it is. */
  fill(cut: Cut, spot: Spot): Filled {
    if (cut.holes.length === 0 || this.traffic.lost || this.depth >= DEEPEST) return UNFILLED;
    this.depth += 1;
    const filled = this.fillAll(cut, spot);
    this.depth -= 1;
    return filled;
  }

  private fillAll(cut: Cut, spot: Spot): Filled {
    let texts: readonly Text[] = [{ cut, source: -1 }];
    let all = true;
    // From the last one on, so that the others stay where they are.
    for (const hole of cut.holes.toReversed()) {
      const values = this.valuesOf(hole, spot);
      all &&= values.all;
      if (values.texts.length === 0) continue;
      if (texts.length * values.texts.length > MOST_TEXTS) return UNFILLED;
      texts = texts.flatMap((text) =>
        values.texts.map(({ cut: value, source }) => ({ cut: replaced(text.cut, hole.at, value), source })),
      );
    }
    return { texts: texts.filter(({ source }) => source !== -1), all };
  }

  private valuesOf({ variable, otherwise, source }: Hole, spot: Spot): Filled {
    const { texts, all } = /^\d$/.test(variable)
      ? this.arguments(Number(variable), spot)
      : this.assigned(variable, spot);
    if (otherwise === null) return { texts, all };
    return { texts: [...texts, { cut: { text: otherwise, pieces: [[0, source]], holes: [] }, source }], all };
  }

  /** The arguments with which the function around a spot is called. */
  private arguments(number: number, { within }: Spot): Filled {
    const { calls } = this.traffic;
    const moves = calls.some(({ name, spot }) => spot.within === within && (name === 'shift' || name === 'set'));
    if (within === null || moves || number === 0) return UNFILLED;
    const given = calls.flatMap(({ name, args, spot }) => {
      const arg = args[number - 1];
      return name === within && arg !== undefined ? this.texts(arg, spot) : [];
    });
    return { texts: given.flatMap(({ texts }) => texts), all: given.length > 0 && given.every(({ all }) => all) };
  }

  private assigned(variable: string, spot: Spot): Filled {
    const { assignments, touched } = this.traffic;
    const reaching = reachingOf(
      assignments.filter((each) => each.variable === variable && this.isCalled(each.spot.within)),
      spot,
    );
    if (reaching.length === 0 || touched.has(variable)) return UNFILLED;
    const given = reaching.flatMap((each) =>
      each.values.length === 0 ? UNFILLED : each.values.filter(isGiven).map((value) => this.texts(value, each.spot)),
    );
    // One value that is not known may go on from the others, as in counting.
    if (given.some(({ texts }) => texts.length === 0)) return UNFILLED;
    return { texts: given.flatMap(({ texts }) => texts), all: given.length > 0 && given.every(({ all }) => all) };
  }

  /** Whether a function is of any use; the script itself is. */
  private isCalled(within: string | null): boolean {
    return within === null || this.traffic.calls.some(({ name }) => name === within);
  }

  /** What a value can be. */
  private texts(value: Cut, spot: Spot): Filled {
    const isPlain = (cut: Cut): boolean => !cut.text.includes(UNKNOWN) && !PATTERN.test(cut.text);
    if (isPlain(value)) return { texts: [{ cut: value, source: sourceOf(value, 0) }], all: true };
    const { texts, all } = this.fill(value, spot);
    const plain = texts.filter(({ cut }) => isPlain(cut));
    return { texts: plain, all: all && plain.length === texts.length };
  }
}

/** A blank is no value that anybody means to print. */
const isGiven = ({ text }: Cut): boolean => text !== '';

/** The assignments whose value can still be there at a spot. They are in the order of the script. */
function reachingOf(assignments: readonly Assignment[], use: Spot): readonly Assignment[] {
  const own = assignments.filter(({ spot }) => spot.within === use.within);
  const others = assignments.filter(({ spot, local }) => spot.within !== use.within && !local);
  const before = own.filter(({ spot }) => spot.order < use.order);
  const last = before.findLast(({ spot }) => spot.certain && use.lists.includes(spot.lists.at(-1) ?? []));
  const since = last === undefined ? before : before.slice(before.indexOf(last));
  const again = own.filter(({ spot }) => spot.order > use.order && comesBack(spot, use, last?.spot));
  return [...(last !== undefined && use.within !== null ? [] : others), ...since, ...again];
}

/** Whether a loop goes from a later assignment back to the use, and not through one that always comes before it. */
function comesBack(later: Spot, use: Spot, last: Spot | undefined): boolean {
  return use.around.some((each) => each.kind === 'loop' && later.around.includes(each) && !last?.around.includes(each));
}
