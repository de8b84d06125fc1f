import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml';

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
}

/** More than any author needs, few enough that unfolding them costs nothing. */
const MOST_ALIASES = 1000;

/** Said instead of the parser's words, which do not say what to do. */
const ADVICE: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'a value that contains a colon and a blank must stand in quotes, or under `|`',
  DUPLICATE_KEY: 'this key is given twice: keep one of them',
  MULTIPLE_DOCS: 'this is a second YAML document: keep all in one, without `---` between them',
  TAB_AS_INDENT: 'use blanks here, not a tab: YAML does not take tabs for indentation',
};

/** Reads YAML; the faults say why it is none. */
export function readDocument(text: string): Document | readonly Fault[] {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  if (document.errors.length > 0) {
    return document.errors.map(({ code, pos, message }) => {
      return { ...place(pos[0]), message: `this is not valid YAML: ${ADVICE[code] ?? lowered(message)}` };
    });
  }
  const loose = looseAliases(document).map(([offset, message]) => ({ ...place(offset), message }));
  if (loose.length > 0) return loose;
  try {
    return {
      value: document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown,
      placeOf: (path) => place(offsetOf(document, path, false)),
      placeOfKey: (path) => place(offsetOf(document, path, true)),
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

/** Where a value stands, or its key. What has no place of its own is where the thing around it is. */
function offsetOf(document: Parsed, path: Path, key: boolean): number {
  let node: unknown = document.contents;
  let at = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    const target: unknown = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap(target) ? target.items.find((each) => nameOf(each) === String(step)) : undefined;
    node = isSeq(target) ? target.items[Number(step)] : pair?.value;
    const keyAt = startOf(pair?.key) ?? at;
    const valueAt = pair !== undefined && isUnwritten(node) ? undefined : startOf(node);
    at = key && index === path.length - 1 ? keyAt : (valueAt ?? keyAt);
  }
  return at;
}

const lowered = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1);

const nameOf = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value) : '');

const startOf = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined);

/** A value that is left out stands nowhere; its key does. */
const isUnwritten = (node: unknown): boolean => isScalar(node) && node.value === null && node.source === '';
