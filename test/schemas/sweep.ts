import { forOthers, kindsOf, listed, type Node, resolverOf, typesOf } from './node.ts';
import { NAMES, STATES, VALUES } from './values.ts';

type Wrap = (value: unknown) => unknown;

/**
 * Small documents, one for each thing that a schema says: every value in every place, every name for every key that is
 * free, every pair of keys.
 */
export function* sweep(root: Node): Generator<unknown> {
  const resolve = resolverOf(root);

  /** A kind of node is expanded only once, because it is the same everywhere. */
  function* around(place: Node, wrap: Wrap, met: Set<Node>): Generator<unknown> {
    for (const value of [...VALUES, ...((place.enum ?? []) as readonly unknown[])]) yield wrap(value);
    for (const kind of kindsOf(resolve(place)).map(resolve)) {
      if (met.has(kind)) continue;
      met.add(kind);
      if (kindsOf(kind)[0] === kind) yield* inside(kind, wrap, met);
      else yield* around(kind, wrap, met);
    }
  }

  function* inside(node: Node, wrap: Wrap, met: Set<Node>): Generator<unknown> {
    const { items } = node;
    if (typeof items === 'object' && items !== null) yield* around(items as Node, (value) => wrap([value]), met);
    if (!typesOf(node).includes('object')) return;
    const known = listed(node, 'properties');
    for (const [key, place] of Object.entries(known)) {
      const beside = companions(node, key);
      yield wrap({ [key]: simplest(place) });
      yield* around(place, (value) => wrap({ ...beside, [key]: value }), met);
      for (const [other, its] of Object.entries(known)) {
        yield wrap({ ...beside, [key]: simplest(place), [other]: simplest(its) });
      }
    }
    const others = forOthers(node);
    const beside = companions(node);
    for (const name of [...STATES, ...NAMES]) yield wrap({ ...beside, [name]: simplest(others ?? {}) });
    if (others === null) return;
    // A prompt and a script differ in what they answer.
    const inBoth = STATES.slice(0, 2).map((name) => ({ name, met: new Set(met) }));
    for (const { name, met } of inBoth) yield* around(others, (value) => wrap({ ...beside, [name]: value }), met);
    for (const each of inBoth[0]?.met ?? []) met.add(each);
  }

  /** The keys that a key requires. */
  function companions(node: Node, key = ''): object {
    const needs = listed(node, 'dependencies')[key] ?? {};
    const beside = [node.required ?? [], needs.required ?? []].flat().map(String);
    const says = ((node.anyOf ?? []) as readonly Node[]).flatMap(({ required }) => (required ?? []) as string[]);
    if (says.length > 0 && ![key, ...beside].some((name) => says.includes(name))) beside.push(says[0] ?? '');
    const places = { ...listed(node, 'properties'), ...listed(needs, 'properties') };
    return Object.fromEntries(beside.map((name) => [name, simplest(places[name] ?? {})]));
  }

  function simplest(place: Node): unknown {
    const [node = {}] = kindsOf(resolve(place)).map(resolve);
    if (kindsOf(node)[0] !== node) return simplest(node);
    if ('const' in node) return node.const;
    if (Array.isArray(node.enum)) return node.enum[0];
    const [type] = typesOf(node);
    if (type === 'array') return [simplest((node.items ?? {}) as Node)];
    if (type === 'object') return companions(node);
    return { string: 'a', number: 1, integer: 1, boolean: true, null: null }[type ?? 'string'] ?? 'a';
  }

  yield* around(root, (value) => value, new Set());
}
