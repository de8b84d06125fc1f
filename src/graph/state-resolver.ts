import {
  isStateFile,
  nearestState,
  type Resolution,
  resolveState,
  runsOn,
  type Scope,
  stem,
} from '../core/state-names.ts';
import { compileNamePattern } from './name-pattern.ts';

/** Finds states by name as the language does, in constant time however many there are. */
export interface StateResolver {
  resolve(name: string): Resolution;
  /** The state most likely meant by a name that finds none, or null. */
  suggest(name: string): string | null;
  /** The states of this platform that a name could mean: one, unless it is ambiguous or means none. */
  candidatesFor(name: string): readonly string[];
  /** The states that fit a name of which a part is known; undefined if that is next to nothing, or too many fit. */
  matching(name: string): readonly string[] | undefined;
  /** A scope that is small and says the same about these names. */
  scopeOf(names: readonly string[]): Scope;
}

/** Looking for what was meant takes a look at every state, so that only so many names get it. */
const MAX_SUGGESTIONS = 50;
/** The same is true of names of which a part is known; and those that too many states fit say nothing. */
const MAX_PATTERNS = 50;
const MAX_MATCHES = 30;

/** Made once for each workflow. */
export function newStateResolver(scope: Scope): StateResolver {
  const { platform } = scope;
  const files = new Set(scope.files);
  const byStem = groupedByStem(scope.files.filter(isStateFile));
  const states = scope.files.filter((file) => runsOn(file, platform));
  const known = new Map<string, Resolution>();
  const guesses = new Map<string, string | null>();
  const knownMatches = new Map<string, readonly string[] | null>();
  let suggested = 0;

  const candidates = (name: string): readonly string[] => [
    ...(files.has(name) ? [name] : []),
    ...(byStem.get(name) ?? []),
  ];
  const candidatesFor = (name: string): readonly string[] => candidates(name).filter((file) => runsOn(file, platform));
  const find = (name: string): Resolution => {
    const found = resolveState(name, { files: candidates(name), platform });
    if (found.kind !== 'unknown' || ++suggested > MAX_SUGGESTIONS) return found;
    return resolveState(name, scope);
  };
  const guess = (name: string): string | null => {
    // Of a path, the file name is what was meant.
    const base = name.split(/[/\\]/).at(-1) ?? name;
    const [here] = candidatesFor(base);
    if (here !== undefined || guesses.size > MAX_SUGGESTIONS) return here ?? null;
    const near = nearestState(name, states);
    return near === undefined ? null : (candidatesFor(near)[0] ?? null);
  };
  const findMatches = (name: string): readonly string[] | null => {
    const pattern = knownMatches.size > MAX_PATTERNS ? undefined : compileNamePattern(name);
    if (pattern === undefined) return null;
    const found = states.filter((file) => pattern.test(file));
    return found.length > MAX_MATCHES ? null : found;
  };
  return {
    resolve: (name) => memoize(known, name, find),
    suggest: (name) => memoize(guesses, name, guess),
    candidatesFor,
    matching: (name) => memoize(knownMatches, name, findMatches) ?? undefined,
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

function memoize<T>(memory: Map<string, T>, name: string, work: (name: string) => T): T {
  const before = memory.get(name);
  if (before !== undefined) return before;
  const found = work(name);
  memory.set(name, found);
  return found;
}
