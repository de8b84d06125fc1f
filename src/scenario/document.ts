import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml';
import { wrongIn } from './yaml-faults.ts';

/** A position in a file, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Something wrong in a file. */
export interface Fault extends Place {
  readonly message: string;
}

type Path = readonly PropertyKey[];
type Parsed = ReturnType<typeof parseDocument>;

/** A YAML file as plain data that still knows where everything stands. */
export interface Document {
  readonly value: unknown;
  placeOf(path: Path): Place;
  /** Where the last key of a path stands. */
  placeOfKey(path: Path): Place;
  /** A single value as it is written: `1.50`, where the value is 1.5; undefined for anything else. */
  writtenAt(path: Path): string | undefined;
}

/** A value that should be a list; nothing is in one that is not. */
export const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A value that should be a mapping; nothing is in one that is not. */
export const mapping = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** What stands at a place; undefined if there is no such place. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

/** More than any author needs, few enough that unfolding them costs nothing. */
const MOST_ALIASES = 1000;

/** Reads YAML; the faults say why it is none. */
export function readDocument(text: string): Document | readonly Fault[] {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  if (document.errors.length > 0) {
    return wrongIn(document, text).map(({ offset, message }) => {
      return { ...place(offset), message: `this is not valid YAML: ${message}` };
    });
  }
  const loose = looseAliases(document).map(([offset, message]) => ({ ...place(offset), message }));
  if (loose.length > 0) return loose;
  try {
    return {
      value: document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown,
      placeOf: (path) => place(offsetOf(document, path, false)),
      placeOfKey: (path) => place(offsetOf(document, path, true)),
      writtenAt: (path) => {
        const node = followed(document, nodeAt(document, path));
        return isScalar(node) ? node.source : undefined;
      },
    };
  } catch {
    return [{ ...place(0), message: 'the aliases (`*name`) unfold to too much: write the values out' }];
  }
}

/** The aliases that cannot be followed, and why. */
function looseAliases(document: Parsed): readonly (readonly [offset: number, message: string])[] {
  const loose: [number, string][] = [];
  visit(document, {
    Alias(_, alias, around) {
      const target = alias.resolve(document);
      const why = target === undefined ? 'nothing before this has that name' : 'it would contain itself';
      if (target === undefined || around.includes(target))
        loose.push([startOf(alias) ?? 0, `\`*${alias.source}\` cannot be used here: ${why}`]);
    },
  });
  return loose;
}

/** What an alias stands for, else the thing itself. */
const followed = (document: Parsed, node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);

const nodeAt = (document: Parsed, path: Path): unknown =>
  path.reduce<unknown>((node, step) => within(followed(document, node), step).node, document.contents);

/** What stands in a mapping or a list under a key or an index. */
function within(node: unknown, step: PropertyKey): { readonly pair?: Pair<unknown, unknown>; readonly node: unknown } {
  if (isSeq(node)) return { node: node.items[Number(step)] };
  const pair = isMap(node) ? node.items.find((each) => nameOf(each) === String(step)) : undefined;
  return { ...(pair !== undefined && { pair }), node: pair?.value };
}

/** Where a value stands, or its key. What has no place of its own is where the thing around it is. */
function offsetOf(document: Parsed, path: Path, key: boolean): number {
  let node: unknown = document.contents;
  let at = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    const inner = within(followed(document, node), step);
    const { pair } = inner;
    node = inner.node;
    const keyAt = startOf(pair?.key) ?? at;
    const valueAt = pair !== undefined && isUnwritten(node) ? undefined : startOf(node);
    at = key && index === path.length - 1 ? keyAt : (valueAt ?? keyAt);
  }
  return at;
}

const nameOf = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value) : '');

const startOf = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined);

/** A value that is left out stands nowhere; its key does. */
const isUnwritten = (node: unknown): boolean => isScalar(node) && node.value === null && node.source === '';
