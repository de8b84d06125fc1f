import { UNKNOWN } from '../mentions.ts';
import { type Assignment, type Call, type Traffic, trafficIn } from './assignments.ts';
import type { List } from './command.ts';
import { type Cut, type Hole, replaced } from './cut.ts';
import type { Spot } from './walk.ts';

/** The texts that a text with variables in it can become, and whether those are all. */
export interface Filled {
  readonly texts: readonly Cut[];
  readonly all: boolean;
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
    const filled = cut.holes.some(isArgument) ? this.fillByCalls(cut, spot) : this.fillAll(cut, spot);
    this.depth -= 1;
    return filled;
  }

  /** All values that a variable ever gets in the script; null if there are others. */
  everyValueOf(variable: string | null): readonly string[] | null {
    const { assignments, touched, lost } = this.traffic;
    const own = assignments.filter((each) => each.variable === variable);
    const values = own.flatMap((each) => each.values);
    const isKnown = values.length > 0 && own.every((each) => each.values.length > 0) && values.every(isPlain);
    return variable === null || lost || touched.has(variable) || !isKnown ? null : values.map(({ text }) => text);
  }

  /** The arguments of one call belong together. */
  private fillByCalls(cut: Cut, spot: Spot): Filled {
    const { calls } = this.traffic;
    const { within } = spot;
    const moves = calls.some((call) => call.spot.within === within && (call.name === 'shift' || call.name === 'set'));
    if (within === null || moves) return UNFILLED;
    const filled = calls.filter(({ name }) => name === within).map((call) => this.fillAll(cut, spot, call));
    return { texts: filled.flatMap(({ texts }) => texts), all: filled.length > 0 && filled.every(({ all }) => all) };
  }

  private fillAll(cut: Cut, spot: Spot, call?: Call): Filled {
    let filled: Filled = { texts: [cut], all: true };
    for (const hole of oneOfEach(cut.holes)) {
      const { texts, all } = this.valuesOf(hole, spot, call);
      // Two choices may depend on each other.
      const isChoice = texts.length > 1 && filled.texts.length > 1;
      if (isChoice || filled.texts.length * texts.length > MOST_TEXTS) return UNFILLED;
      const put = (value: Cut): readonly Cut[] => filled.texts.map((text) => withValue(text, hole, value));
      filled = { texts: texts.length === 0 ? filled.texts : texts.flatMap(put), all: all && filled.all };
    }
    return { texts: filled.texts.filter((text) => text !== cut), all: filled.all };
  }

  private valuesOf({ variable, otherwise }: Hole, spot: Spot, call?: Call): Filled {
    const { texts, all } = isArgument({ variable }) ? this.argument(variable, call) : this.assigned(variable, spot);
    const left = texts.filter(({ text }) => !this.isAskedFor(variable, text, spot));
    return { texts: otherwise === null ? left : [...left, otherwise], all: all && left.length === texts.length };
  }

  private argument(variable: string, call: Call | undefined): Filled {
    const given = call?.args[Number(variable) - 1];
    return call === undefined || given === undefined ? UNFILLED : this.texts(given, call.spot);
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

  /** Whether a value is compared with somewhere: it may be one that never gets as far as where it would be printed. */
  private isAskedFor(variable: string, value: string, { within }: Spot): boolean {
    const here = isArgument({ variable }) ? within : null;
    return this.traffic.comparisons.some((each) => {
      return each.variable === variable && each.value === value && (here === null || each.within === here);
    });
  }

  /** Whether a function is of any use; the script itself is. */
  private isCalled(within: string | null): boolean {
    return within === null || this.traffic.calls.some(({ name }) => name === within);
  }

  /** What a value can be. */
  private texts(value: Cut, spot: Spot): Filled {
    if (isPlain(value)) return { texts: [value], all: true };
    const { texts, all } = this.fill(value, spot);
    const plain = texts.filter(isPlain);
    return { texts: plain, all: all && plain.length === texts.length };
  }
}

const isArgument = ({ variable }: Pick<Hole, 'variable'>): boolean => /^[1-9]$/.test(variable);

const isPlain = ({ text }: Cut): boolean => !text.includes(UNKNOWN) && !PATTERN.test(text);

/** A blank is no value that anybody means to print. */
const isGiven = ({ text }: Cut): boolean => text !== '';

const nameOf = ({ variable, otherwise }: Hole): string => `${variable}:-${otherwise?.text ?? ''}`;

const oneOfEach = (holes: readonly Hole[]): readonly Hole[] => [
  ...new Map(holes.map((hole) => [nameOf(hole), hole])).values(),
];

/** A variable has the same value wherever it stands in a text. */
function withValue(cut: Cut, hole: Hole, value: Cut): Cut {
  const last = cut.holes.findLast((each) => nameOf(each) === nameOf(hole));
  return last === undefined ? cut : withValue(replaced(cut, last.at, value), hole, value);
}

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
