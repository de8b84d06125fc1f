import { edgesOf } from './edges.ts';
import type { Graph, Node, Target } from './graph.ts';
import { type Page, readPages } from './page.ts';
import { newResolver, type Resolver } from './resolver.ts';
import type { Sheet } from './sheet.ts';

/** Draws the map of a workflow. */
export function buildGraph(
  sheet: Sheet,
  pages: readonly Page[] = readPages(sheet),
  names: Resolver = resolverOf(sheet),
): Graph {
  const edges = pages.flatMap((page) => edgesOf(page, names, sheet.resetStack));
  const unreadable = sheet.files.filter(({ kind }) => kind === 'unreadable');
  const missing = new Map(edges.flatMap(({ to, return: back, next }) => [to, back, next].flatMap(missingName)));
  return {
    name: sheet.name,
    entry: sheet.entry.kind === 'found' ? sheet.entry.file : null,
    nodes: [
      ...pages.map(nodeOf),
      ...unreadable.map(({ file }) => ({ ...UNKNOWN_NODE, state: file, kind: kindOf(file), open: true, couldBe: [] })),
      ...[...missing.keys()].sort().map((state) => ({
        ...{ ...UNKNOWN_NODE, state, kind: 'missing' as const, open: false },
        couldBe: missing.get(state) ?? [],
      })),
    ],
    edges,
  };
}

/** Finds the states of a sheet by name. */
export const resolverOf = ({ files, platform }: Sheet): Resolver =>
  newResolver({ files: files.map(({ file }) => file), platform });

const UNKNOWN_NODE = { maxVisits: null, description: null } as const;

const kindOf = (file: string): 'prompt' | 'script' => (file.endsWith('.md') ? 'prompt' : 'script');

/** A name that leads to no state, and what it may mean if it is ambiguous. */
function missingName(target: Target | null): readonly (readonly [string, readonly string[]])[] {
  if (target?.kind !== 'missing' || target.name === '') return [];
  const { name, meant, others } = target;
  return [[name, others === undefined || meant === null ? [] : [meant, ...others]]];
}

function nodeOf({ file, kind, open, source }: Page): Node {
  const { description, rules } = source.state;
  return { state: file, kind, maxVisits: rules.maxVisits, description, open, couldBe: [] };
}
