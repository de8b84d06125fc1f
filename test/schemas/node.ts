/** A JSON Schema, or a part of one. */
export interface Node {
  readonly [keyword: string]: unknown;
}

/** The entries of a node under a keyword, by name; none if it has no such keyword. */
export const listed = (node: Node | undefined, keyword: string): Readonly<Record<string, Node>> =>
  (node?.[keyword] ?? {}) as Readonly<Record<string, Node>>;

/** The node for keys that a node does not list; null if there may be none. */
export const forOthers = ({ additionalProperties: others }: Node): Node | null =>
  typeof others === 'object' && others !== null ? (others as Node) : null;

/** Reads the references of a schema. A node that must fit several comes down to the first; the others only refuse. */
export const resolverOf = (root: Node) => {
  const resolve = (node: Node): Node => {
    if (Array.isArray(node.allOf)) return resolve(node.allOf[0]);
    if (typeof node.$ref !== 'string') return node;
    return resolve(listed(root, 'definitions')[node.$ref.replace('#/definitions/', '')] ?? {});
  };
  return resolve;
};

/** The alternatives of a node: its kinds, if it has any, else itself. */
export const kindsOf = (node: Node): readonly Node[] =>
  node.properties === undefined && Array.isArray(node.anyOf) ? node.anyOf : [node];

/** The types that a value may have. */
export const typesOf = ({ type, properties }: Node): readonly string[] =>
  [type ?? (properties === undefined ? [] : 'object')].flat() as string[];
