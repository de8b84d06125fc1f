import { visitorKeys } from 'oxc-parser';

/** A node of the parser's syntax tree. Its own members depend on `type`. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Tells nodes from the other values of a syntax tree, such as names, numbers and missing parts. */
export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** The text of an identifier, or of a quoted export name such as `export { a as "b" }`. */
export function nameOfIdentifier(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  const name = value.name ?? value.value;
  return typeof name === 'string' ? name : undefined;
}

/** A node and its position in the tree: `slot` is the parent's key that holds it. */
export interface Place {
  readonly node: Node;
  readonly slot: string;
  readonly parent: Place | undefined;
}

/** Goes through a node and everything below it. */
export function* walk(node: Node, slot = '', parent?: Place): Generator<Place> {
  const place = { node, slot, parent };
  yield place;
  for (const key of visitorKeys[node.type] ?? []) {
    for (const child of [node[key]].flat()) {
      if (isNode(child)) yield* walk(child, key, place);
    }
  }
}

/** Makes a function that tells the line, from 1, of an offset in a text. */
export function lineCounter(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map((found) => found.index + 1)];
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}
