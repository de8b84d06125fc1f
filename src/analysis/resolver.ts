import { isStateFile, nearestState, type Resolution, resolveState, runsOn, type Scope, stem } from '../core/names.ts';
import { patternOf } from './pattern.ts';

/** Finds states by name as the language does, in constant time however many there are. */
export interface Resolver {
  resolve(name: string): Resolution;
  /** The state most likely meant by a name that finds none, or null. */
  meant(name: string): string | null;
  /** The states of this platform that a name could mean: one, unless it is ambiguous or means none. */
  couldBe(name: string): readonly string[];
  /** The states that fit a name of which a part is known; undefined if that is next to nothing, or too many fit. */
  like(name: string): readonly string[] | undefined;
  /** A scope that is small and says the same about these names. */
  scopeOf(names: readonly string[]): Scope;
}

/** Looking for what was meant takes a look at every state, so that only so many names get it. */
const MOST_SUGGESTIONS = 50;
/** The same is true of names of which a part is known; and those that too many states fit say nothing. */
const MOST_PATTERNS = 50;
const MOST_FITTING = 30;

/** Made once for each workflow. */
export function newResolver(scope: Scope): Resolver {
  const { platform } = scope;
  const files = new Set(scope.files);
  const byStem = groupedByStem(scope.files.filter(isStateFile));
  const states = scope.files.filter((file) => runsOn(file, platform));
  const known = new Map<string, Resolution>();
  const guesses = new Map<string, string | null>();
  const fitting = new Map<string, readonly string[] | null>();
  let suggested = 0;

  const candidates = (name: string): readonly string[] => [
    ...(files.has(name) ? [name] : []),
    ...(byStem.get(name) ?? []),
  ];
  const couldBe = (name: string): readonly string[] => candidates(name).filter((file) => runsOn(file, platform));
  const find = (name: string): Resolution => {
    const found = resolveState(name, { files: candidates(name), platform });
    if (found.kind !== 'unknown' || ++suggested > MOST_SUGGESTIONS) return found;
    return resolveState(name, scope);
  };
  const guess = (name: string): string | null => {
    // Of a path, the file name is what was meant.
    const base = name.split(/[/\\]/).at(-1) ?? name;
    const [here] = couldBe(base);
    if (here !== undefined || guesses.size > MOST_SUGGESTIONS) return here ?? null;
    const near = nearestState(name, states);
    return near === undefined ? null : (couldBe(near)[0] ?? null);
  };
  const fit = (name: string): readonly string[] | null => {
    const pattern = fitting.size > MOST_PATTERNS ? undefined : patternOf(name);
    if (pattern === undefined) return null;
    const found = states.filter((file) => pattern.test(file));
    return found.length > MOST_FITTING ? null : found;
  };
  return {
    resolve: (name) => remember(known, name, find),
    meant: (name) => remember(guesses, name, guess),
    couldBe,
    like: (name) => remember(fitting, name, fit) ?? undefined,
    scopeOf: (names) => ({ files: names.flatMap((name) => candidates(name.trim())), platform }),
  };
}

function groupedByStem(states: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const file of states) {
    const group = groups.get(stem(file));
    if (group === undefined) groups.set(stem(file), [file]);
    else group.push(file);
  }
  return groups;
}

function remember<T>(memory: Map<string, T>, name: string, work: (name: string) => T): T {
  const before = memory.get(name);
  if (before !== undefined) return before;
  const found = work(name);
  memory.set(name, found);
  return found;
}
