import { isOpen, type Mention } from '../mentions.ts';

/** What a script has printed on one of its ways. `at` and the like are offsets of the script. */
export type Said =
  /** `since` is the last thing that could have printed a tag and did not, or the `exit`. */
  | { readonly kind: 'nothing'; readonly since: number | null; readonly about: Conditions }
  /** Some of the tags that stand in the script, or none. */
  | { readonly kind: 'some' }
  /** Nothing, if the loop here has nothing to go through. */
  | { readonly kind: 'skipped'; readonly loop: number; readonly about: Conditions }
  /** Perhaps a tag that does not stand in the script. */
  | { readonly kind: 'perhaps' }
  | Forks
  | One
  | Clash;

/** One tag that is no fork; or a goto, with or without forks. */
export interface One {
  readonly kind: 'one';
  readonly name: string;
  readonly key: string;
  readonly at: number;
  readonly about: Conditions;
  /** Where a goto leads, if it says so. */
  readonly next: string | null;
  /** Whether it may stand beside forks. */
  readonly forks: boolean;
}

/** Forks, and where they let their parent go on, if they say so. */
export interface Forks {
  readonly kind: 'forks';
  readonly at: number;
  readonly about: Conditions;
  readonly next: string | null;
}

/** Two tags that exclude each other: there can be only one of them, or forks differ in where their parent goes on. */
export interface Clash {
  readonly kind: 'clash';
  readonly first: number;
  readonly second: number;
  readonly why: 'two' | 'forks' | 'next' | 'again';
}

/** Something that a script asks. */
export interface Condition {
  /** The variables, files and other things that it names. */
  readonly about: ReadonlySet<string>;
  /** If it asks whether a variable has this very value. */
  readonly is: Equality | null;
  /** Whether it only asks whether there is something, not what. */
  readonly isWeak: boolean;
}

/** A variable and one of its values; also all of them, if they are known. */
export interface Equality {
  readonly subject: string;
  readonly value: string;
  readonly of: readonly string[] | null;
}

/**
 * The conditions on the way. Two that are about the same thing may exclude each other, so that what would need both of
 * them is not claimed.
 */
export type Conditions = readonly Condition[];

/** All that may have been printed at some point of a script. */
export type Sayings = ReadonlyMap<string, Said>;

export const NONE: Sayings = new Map();

/** What hangs on more conditions than these is nothing that an author could see at a glance. */
const MOST_CONDITIONS = 30;

/** A script before its first command. */
export const SILENCE: Sayings = new Map([['nothing', { kind: 'nothing', since: null, about: [] }]]);

/** What may have been printed where several ways come together. */
export function joined(...all: readonly Sayings[]): Sayings {
  const [first = NONE, ...others] = all.filter(({ size }) => size > 0);
  if (others.length === 0) return first;
  const merged = new Map(first);
  for (const [key, said] of others.flatMap((each) => [...each])) {
    const known = merged.get(key);
    merged.set(key, known === undefined ? said : merge(known, said));
  }
  return merged;
}

/** Something that could have printed a tag is over; it hung on a condition, or was an `exit`. */
export const since = (sayings: Sayings, at: number, condition?: Condition): Sayings =>
  changed(sayings, (said): Said => {
    if (said.kind === 'skipped' && condition !== undefined && completes(condition, said.about)) return { kind: 'some' };
    if (said.kind !== 'nothing') return said;
    const about = condition === undefined ? [] : [condition];
    return said.about.length > MOST_CONDITIONS || (condition !== undefined && completes(condition, said.about))
      ? { kind: 'some' }
      : { kind: 'nothing', since: at, about: both(said.about, about) };
  });

/** Some of what was not printed is known to be printed elsewhere, as far as these conditions go. */
export const unsure = (sayings: Sayings): Sayings =>
  changed(sayings, (said) => (said.kind === 'nothing' ? { kind: 'some' } : said));

/** A program has run that may have printed a tag or not. */
export const uncertain = (sayings: Sayings): Sayings =>
  changed(sayings, (said) => (isVague(said) || said.kind === 'nothing' ? { kind: 'perhaps' } : said));

/** A loop that prints tags was not gone through at all. */
export const skipped = (sayings: Sayings, loop: number, condition: Condition): Sayings =>
  changed(sayings, (said) => {
    if (said.kind !== 'nothing') return said;
    return completes(condition, said.about) ? { kind: 'some' } : { kind: 'skipped', loop, about: [condition] };
  });

/** A loop prints this tag in each of its rounds, and it is never twice the same. */
export const printedAgain = (sayings: Sayings, at: number): Sayings =>
  changed(sayings, (said) => (said.kind === 'one' ? { kind: 'clash', first: at, second: at, why: 'again' } : said));

/** These tags are printed as well, under these conditions. */
export const after = (sayings: Sayings, tags: readonly Mention[], around: Conditions): Sayings =>
  tags.reduce((all, tag) => changed(all, (said) => saying(said, tag, around)), sayings);

/** A result is begun whose end is printed by another command. */
export const afterHalfResult = (sayings: Sayings): Sayings =>
  changed(sayings, (said) => {
    return said.kind === 'one'
      ? said
      : { kind: 'one', name: 'result', key: 'result', at: 0, about: [], next: null, forks: false };
  });

/** The tags that have surely been printed where these conditions hold. */
export const spokenUnder = (sayings: Sayings, around: Conditions): readonly (One | Forks)[] =>
  [...sayings.values()].flatMap((said) => {
    const spoke = said.kind === 'one' || said.kind === 'forks';
    return spoke && around.every((condition) => said.about.includes(condition)) ? said : [];
  });

function changed(sayings: Sayings, change: (said: Said) => Said): Sayings {
  return [...sayings.values()].reduce<Sayings>((all, said) => {
    const now = change(said);
    return joined(all, new Map([[keyOf(now), now]]));
  }, NONE);
}

function keyOf(said: Said): string {
  if (said.kind === 'one') return said.key;
  return said.kind === 'forks' ? `forks ${said.next}` : said.kind;
}

/** One more tag: forks go together and with one goto, every other tag stands alone. */
function saying(said: Said, { name, tag, offset: at }: Mention, around: Conditions): Said {
  if (said.kind === 'clash') return said;
  const about = 'about' in said ? both(said.about, around) : around;
  const next = wayOn(name === 'fork' ? tag.attributes.next : name === 'goto' ? tag.body : undefined);
  const key = JSON.stringify([name, tag.body, tag.attributes]);
  const one: Said = { kind: 'one', name, key, at, about, next, forks: said.kind === 'forks' };
  if (said.kind !== 'one' && said.kind !== 'forks') return name === 'fork' ? { kind: 'forks', at, about, next } : one;
  if (said.kind === 'one' && said.key === key) return one;
  const clash = (why: Clash['why']): Said =>
    excludes(said.about, around) ? { kind: 'some' } : { kind: 'clash', first: said.at, second: at, why };
  const forks = [said.kind === 'forks', name === 'fork'];
  if (!forks.includes(true)) return clash('two');
  if ((said.kind === 'one' && said.name !== 'goto') || (name !== 'fork' && name !== 'goto')) return clash('forks');
  if (said.next !== null && next !== null && said.next !== next) return clash('next');
  if (said.kind === 'one') return { ...said, next: said.next ?? next, forks: true };
  return name === 'goto' ? one : { ...said, next: said.next ?? next };
}

/** A state's name without its extension, if it is known: with and without it, the same state is meant. */
function wayOn(name: string | undefined): string | null {
  return name === undefined || isOpen(name) ? null : name.trim().replace(/\.(?:md|sh)$/, '');
}

const isVague = ({ kind }: Said): boolean => kind === 'some' || kind === 'skipped';

function merge(a: Said, b: Said): Said {
  if (!('about' in a && 'about' in b)) return a;
  const merged = { ...a, about: both(a.about, b.about) };
  if (merged.kind === 'one' && b.kind === 'one') return { ...merged, forks: merged.forks || b.forks };
  return merged.kind === 'nothing' && b.kind === 'nothing' ? { ...merged, since: merged.since ?? b.since } : merged;
}

/** Whether a condition of one way may exclude one of the other; those that both have in common do not. */
function excludes(one: Conditions, other: Conditions): boolean {
  const apart = other.filter((each) => !one.includes(each));
  return one.some((condition) => !other.includes(condition) && apart.some((each) => isAkin(condition, each)));
}

const isAkin = (a: Condition, b: Condition): boolean => [...b.about].some((subject) => a.about.has(subject));

/** Whether at least one of these may always hold. That a variable has one of two values does not, if it can have others. */
function completes(condition: Condition, others: Conditions): boolean {
  const akin = others.filter((each) => each !== condition && isAkin(each, condition));
  const values = [condition, ...akin].flatMap(({ is }) => (is?.subject === condition.is?.subject ? (is ?? []) : []));
  if (values.length <= akin.length) return akin.length > 0;
  return condition.is?.of?.every((value) => values.some((each) => each.value === value)) ?? false;
}

/** Whether a condition may hold whenever a script has not failed on account of one of these. */
export const isAssured = (condition: Condition, guards: Conditions): boolean =>
  guards.some((guard) => !guard.isWeak && guard !== condition && isAkin(guard, condition));

const both = (a: Conditions, b: Conditions): Conditions => (b.length === 0 ? a : [...new Set([...a, ...b])]);
