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
