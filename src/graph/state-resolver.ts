import { nameState, workflowNameOf } from '../language/named-workflows.ts';
import {
  isStateFile,
  nearestState,
  type Resolution,
  resolveState,
  runsOn,
  type Scope,
  stem,
} from '../language/state-names.ts';
import { UNKNOWN } from '../language/tags/tag-mentions.ts';
import { memoizeByName } from '../language/text/memoize.ts';
import { groupBy } from './group-by.ts';
import { sourceScope, specKey, type WorkflowSource } from './workflow-source.ts';

/**
 * Finds states of one workflow by name as the language does, in constant time however many there are. What it finds has the
 * workflow's name before its own, unless it is the workflow that all begins with.
 */
export interface StateResolver {
  /** Finds what the path of another workflow leads to; undefined if that has not been looked for. */
  resolveSpec(spec: string): Resolution | undefined;
  resolve(name: string): Resolution;
  /** The state that a name means, blanks around it aside; undefined if it means none, or could mean several. */
  fileOf(name: string): string | undefined;
  /** The state most likely meant by a name that finds none, or null. */
  suggest(name: string): string | null;
  /** The state that a name means or most likely means; the name itself if there is none. */
  intendedFile(name: string): string;
  /** The states of this platform that a name could mean: one, unless it is ambiguous or means none. */
  candidatesFor(name: string): readonly string[];
  /** The files of the states that fit a name of which a part is known; undefined if that is next to nothing, or too many fit. */
  matching(name: string): readonly string[] | undefined;
  /** The smallest scope that resolves these names the same way. */
  scopeOf(names: readonly string[]): Scope;
}

/** A search for similar or matching names visits every state, so only this many names get one. */
const MAX_SEARCHES = 150;
/** A pattern that more states match counts as unknown. */
const MAX_MATCHES = 30;

/** Makes the resolver of each workflow of a source, when it is asked for: by a file of the workflow. */
export function newResolvers(source: WorkflowSource): (file: string) => StateResolver {
  const resolverOf = memoizeByName((name) => newStateResolver(source, name === '' ? null : name));
  return (file) => resolverOf(workflowNameOf(file) ?? '');
}

/** Indexes the files of a workflow by name. */
function newStateResolver(source: WorkflowSource, workflow: string | null): StateResolver {
  const scope = sourceScope(source, workflow);
  const nameFile = (file: string): string => nameState(workflow, file);
  const { files: _, ...rest } = scope;
  const { platform, anyExtension } = scope;
  const files = new Set(scope.files);
  const byStem = groupBy(scope.files.filter(isStateFile), stem);
  const states = scope.files.filter((file) => runsOn(file, platform));
  let searches = 0;
  const maySearch = (): boolean => ++searches <= MAX_SEARCHES;
  const candidates = (name: string): readonly string[] => [
    ...(files.has(name) ? [name] : []),
    ...(byStem.get(anyExtension && !files.has(name) ? stem(name) : name) ?? []),
  ];
  const candidatesFor = (name: string): readonly string[] =>
    candidates(name)
      .filter((file) => runsOn(file, platform))
      .map(nameFile);
  const resolve = memoizeByName((name): Resolution => {
    const found = resolveState(name, { ...rest, files: candidates(name) });
    if (found.kind === 'found') return { kind: 'found', file: nameFile(found.file) };
    // The message depends on the other files.
    const needsAll = found.kind === 'foreign' || (found.kind === 'unknown' && maySearch());
    return needsAll ? resolveState(name, scope) : found;
  });
  const suggest = memoizeByName((name): string | null => {
    // Of a path, the file name is what was meant.
    const [here] = candidatesFor(name.split(/[/\\]/).at(-1) ?? name);
    if (here !== undefined || !maySearch()) return here ?? null;
    const near = nearestState(name, states);
    return near === undefined ? null : (candidatesFor(near)[0] ?? null);
  });
  const match = memoizeByName((name): readonly string[] | null => {
    const pattern = compileNamePattern(name);
    const found = pattern === undefined || !maySearch() ? null : states.filter((file) => pattern.test(file));
    return found === null || found.length > MAX_MATCHES ? null : found;
  });
  const fileOf = (name: string): string | undefined => {
    const found = resolve(name.trim());
    return found.kind === 'found' ? found.file : undefined;
  };
  return {
    resolveSpec: (spec) => source.specs?.get(specKey(workflow, spec)),
    resolve,
    fileOf,
    suggest,
    intendedFile: (name) => fileOf(name) ?? suggest(name.trim()) ?? name.trim(),
    candidatesFor,
    matching: (name) => match(name) ?? undefined,
    scopeOf: (names) => ({ ...rest, files: names.flatMap((name) => candidates(name.trim())) }),
  };
}

const UNKNOWN_PART = new RegExp(`${UNKNOWN}+|\\{\\{[^{}]*\\}\\}`, 'g');
const ENDING = /\.(?:md|sh|ps1|bat)$/;
/** Characters that no state has in its name. */
const INVALID_CHARACTER = /[\s{}$[\]<>…*?|/\\]/;
/** Enough for any name that people make up. */
const MAX_PARTS = 5;

/** Compiles a name that is filled in later, such as `STYLE_{{lang}}.md`; undefined if next to nothing of it is known. */
function compileNamePattern(name: string): RegExp | undefined {
  const parts = name.split(UNKNOWN_PART);
  const known = parts.join('');
  if (parts.length === 1 || parts.length > MAX_PARTS || INVALID_CHARACTER.test(known)) return undefined;
  if (!/[\p{L}\p{N}]/u.test(known.replace(ENDING, ''))) return undefined;
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*');
  return new RegExp(`^${escaped}${ENDING.test(known) ? '' : '(?:\\.(?:md|sh|ps1|bat))?'}$`, 'u');
}

/** Formats such a name for a message. */
export const formatNamePattern = (name: string): string => name.replace(UNKNOWN_PART, '…');
