import fc from 'fast-check';
import { forOthers, kindsOf, listed, type Node, resolverOf, typesOf } from './node.ts';
import { NAMES, NUMBERS, STATES, TEXTS, VALUES } from './values.ts';

const text = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.constantFrom(...NAMES),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const real = fc.double({ noNaN: true, noDefaultInfinity: true });
const number = fc.oneof(fc.constantFrom(...NUMBERS), fc.integer(), real);
const OF_TYPE: Readonly<Record<string, fc.Arbitrary<unknown>>> = { string: text, number, integer: number };
/** The treatment of `__proto__` by zod is one of the differences that the test names. */
const FREE = NAMES.filter((name) => name !== '__proto__');
const anything = fc.oneof(fc.constantFrom(...VALUES), text, number);

/** Random documents for a schema: mostly valid, with an occasional invalid part. */
export function documentsFor(root: Node): fc.Arbitrary<unknown> {
  const resolve = resolverOf(root);

  const near = (place: Node): fc.Arbitrary<unknown> => {
    const kinds = kindsOf(resolve(place)).map(resolve);
    return fc.oneof({ weight: 16, arbitrary: fc.oneof(...kinds.map(meant)) }, anything);
  };

  const meant = (node: Node): fc.Arbitrary<unknown> => {
    if (kindsOf(node)[0] !== node) return near(node);
    if ('const' in node) return fc.constant(node.const);
    if (Array.isArray(node.enum)) return fc.constantFrom(...node.enum);
    return fc.oneof(
      ...typesOf(node).map((type) => ofType(type, node)),
      ...(typesOf(node).length > 0 ? [] : [anything]),
    );
  };

  const ofType = (type: string, node: Node): fc.Arbitrary<unknown> => {
    if (type === 'array') return fc.array(near((node.items ?? {}) as Node), { maxLength: 3 });
    return type === 'object' ? objects(node) : (OF_TYPE[type] ?? anything);
  };

  const objects = (node: Node): fc.Arbitrary<unknown> => {
    const known = listed(node, 'properties');
    const others = forOthers(node);
    const free = fc.constantFrom(...('[^/]\\.md$' in listed(node, 'patternProperties') ? STATES : FREE));
    const names = fc.tuple(
      fc.oneof({ weight: 16, arbitrary: fc.constant((node.required ?? []) as string[]) }, fc.constant([])),
      fc.subarray(Object.keys(known), { maxLength: Math.min(3, Object.keys(known).length) }),
      fc.oneof({ weight: others === null ? 16 : 1, arbitrary: fc.constant([]) }, fc.array(free, { maxLength: 2 })),
    );
    return names.chain((lists) => {
      const chosen = [...new Set(lists.flat())];
      const values = chosen.map((name) => near((Object.hasOwn(known, name) ? known[name] : others) ?? {}));
      return fc.tuple(...values).map((each) => Object.fromEntries(chosen.map((name, at) => [name, each[at]])));
    });
  };

  return near(root);
}
