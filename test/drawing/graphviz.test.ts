import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Arrow, Diagram, StateShape } from '../../src/drawing/diagram.ts';
import { assignLayers, toGraphviz } from '../../src/drawing/graphviz.ts';

const shape = (index: number): StateShape => ({
  key: `s${index}`,
  kind: 'prompt',
  state: `S${index}.md`,
  description: null,
  maxVisits: null,
  maxVisitsPer: 'agent',
  open: false,
  couldBe: [],
  tally: null,
  agents: [],
});

const arrow = ([from, to]: readonly [number, number]): Arrow => ({
  from: from === 0 ? 'begin' : `s${from}`,
  kind: from === 0 ? 'begin' : 'goto',
  terms: [],
  to: `s${to}`,
  labels: ['goto'],
  times: null,
  unforeseen: false,
  computed: false,
});

const SIZE = 12;
const diagram: fc.Arbitrary<Diagram> = fc
  .array(fc.tuple(fc.nat(SIZE), fc.integer({ min: 1, max: SIZE })), { maxLength: 40 })
  .map((pairs) => ({
    name: 'random',
    shapes: [
      ...Array.from({ length: SIZE }, (_, index) => shape(index + 1)),
      { key: 'begin', kind: 'begin', passed: true },
    ],
    arrows: pairs.map(arrow),
    transitions: pairs.length,
    hasRun: false,
  }));

test('the layout has no cycles, and every arrow still has its direction and label, for any graph', () => {
  fc.assert(
    fc.property(diagram, (drawn) => {
      const order = [...assignLayers(drawn).keys()];
      const { nodes = [], edges = [] } = toGraphviz(drawn);
      expect(nodes).toHaveLength(drawn.shapes.length);
      expect(edges).toHaveLength(drawn.arrows.length);
      for (const [index, { tail, head, attributes = {} }] of edges.entries()) {
        const { from, to } = drawn.arrows[index] as Arrow;
        expect(attributes.dir === 'back' ? [head, tail] : [tail, head]).toStrictEqual([from, to]);
        if (tail !== head) expect(order.indexOf(tail)).toBeLessThan(order.indexOf(head));
        expect(attributes.label).toBe(' goto ');
      }
    }),
  );
});

test('every shape is ranked by its distance from the start', () => {
  fc.assert(
    fc.property(diagram, (drawn) => {
      const layers = assignLayers(drawn);
      expect([...layers.keys()].sort()).toStrictEqual(drawn.shapes.map(({ key }) => key).sort());
      expect(layers.get('begin')).toBe(0);
      for (const { from, to } of drawn.arrows) {
        const reached = isReachable(drawn, from);
        if (reached) expect(layers.get(to)).toBeLessThanOrEqual((layers.get(from) ?? 0) + 1);
      }
    }),
  );
});

function isReachable({ arrows }: Diagram, wanted: string): boolean {
  const seen = new Set(['begin']);
  for (const key of seen) for (const { from, to } of arrows) if (from === key) seen.add(to);
  return seen.has(wanted);
}
