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
  /** The state that a name means, blanks around it aside; undefined if it means none, or could mean several. */
  fileOf(name: string): string | undefined;
  /** The state most likely meant by a name that finds none, or null. */
  suggest(name: string): string | null;
  /** The state that a name means or most likely means; the name itself if there is none. */
  intendedFile(name: string): string;
  /** The states of this platform that a name could mean: one, unless it is ambiguous or means none. */
  candidatesFor(name: string): readonly string[];
  /** The states that fit a name of which a part is known; undefined if that is next to nothing, or too many fit. */
  matching(name: string): readonly string[] | undefined;
  /** The smallest scope that resolves these names the same way. */
  scopeOf(names: readonly string[]): Scope;
}

/** A search for similar or matching names visits every state, so only this many names get one. */
const MAX_SEARCHES = 50;
/** A pattern that more states match counts as unknown. */
const MAX_MATCHES = 30;

/** Indexes the files of a workflow by name. */
export function newStateResolver(scope: Scope): StateResolver {
  const { platform } = scope;
  const files = new Set(scope.files);
  const byStem = groupByStem(scope.files.filter(isStateFile));
  const states = scope.files.filter((file) => runsOn(file, platform));
  let suggested = 0;
  const candidates = (name: string): readonly string[] => [
    ...(files.has(name) ? [name] : []),
    ...(byStem.get(name) ?? []),
  ];
  const candidatesFor = (name: string): readonly string[] => candidates(name).filter((file) => runsOn(file, platform));
  const resolve = memoize((name): Resolution => {
    const found = resolveState(name, { files: candidates(name), platform });
    return found.kind !== 'unknown' || ++suggested > MAX_SEARCHES ? found : resolveState(name, scope);
  });
  const suggest = memoize((name, known): string | null => {
    // Of a path, the file name is what was meant.
    const [here] = candidatesFor(name.split(/[/\\]/).at(-1) ?? name);
    if (here !== undefined || known > MAX_SEARCHES) return here ?? null;
    const near = nearestState(name, states);
    return near === undefined ? null : (candidatesFor(near)[0] ?? null);
  });
  const match = memoize((name, known): readonly string[] | null => {
    const pattern = known > MAX_SEARCHES ? undefined : compileNamePattern(name);
    const found = pattern === undefined ? null : states.filter((file) => pattern.test(file));
    return found === null || found.length > MAX_MATCHES ? null : found;
  });
  const fileOf = (name: string): string | undefined => {
    const found = resolve(name.trim());
    return found.kind === 'found' ? found.file : undefined;
  };
  return {
    resolve,
    fileOf,
    suggest,
    intendedFile: (name) => fileOf(name) ?? suggest(name.trim()) ?? name.trim(),
    candidatesFor,
    matching: (name) => match(name) ?? undefined,
    scopeOf: (names) => ({ files: names.flatMap((name) => candidates(name.trim())), platform }),
  };
}

function groupByStem(states: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const file of states) groups.set(stem(file), [...(groups.get(stem(file)) ?? []), file]);
  return groups;
}

/** Remembers the answer for each name; `work` also gets the number of names before it. */
function memoize<T>(work: (name: string, known: number) => T): (name: string) => T {
  const memory = new Map<string, T>();
  return (name) => {
    const before = memory.get(name);
    if (before !== undefined) return before;
    const found = work(name, memory.size);
    memory.set(name, found);
    return found;
  };
}
