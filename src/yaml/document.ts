import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  visit,
} from 'yaml';
import type { TextPosition } from '../core/text-position.ts';
import { explainDocumentErrors } from './document-errors.ts';

/** Something wrong in a file. */
export interface DocumentProblem extends TextPosition {
  readonly message: string;
}

type Path = readonly PropertyKey[];
type ParsedYaml = ReturnType<typeof parseDocument>;

/** A YAML file as plain data that still knows where everything stands. */
export interface YamlDocument {
  readonly value: unknown;
  positionOf(path: Path): TextPosition;
  /** Where the last key of a path stands. */
  positionOfKey(path: Path): TextPosition;
  /** A single value as it is written: `1.50`, where the value is 1.5; undefined for anything else. */
  sourceAt(path: Path): string | undefined;
}

/** A value that should be a list; nothing is in one that is not. */
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A value that should be a mapping; nothing is in one that is not. */
export const asMapping = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** What stands at a place; undefined if there is no such place. */
export function valueAtPath(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

/** More than any author needs, few enough that unfolding them costs nothing. */
const MAX_ALIASES = 1000;

/** Reads YAML; the faults say why it is none. */
export function parseYamlDocument(text: string): YamlDocument | readonly DocumentProblem[] {
  const lines = new LineCounter();
  const toPosition = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  if (document.errors.length > 0) {
    return explainDocumentErrors(document, text).map(({ offset, message }) => {
      return { ...toPosition(offset), message: `this is not valid YAML: ${message}` };
    });
  }
  const aliasProblems = findInvalidAliases(document).map(([offset, message]) => ({ ...toPosition(offset), message }));
  if (aliasProblems.length > 0) return aliasProblems;
  try {
    return {
      value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown,
      positionOf: (path) => toPosition(findOffset(document, path, false)),
      positionOfKey: (path) => toPosition(findOffset(document, path, true)),
      sourceAt: (path) => {
        const node = resolveAlias(document, nodeAt(document, path));
        return isScalar(node) ? node.source : undefined;
      },
    };
  } catch {
    return [{ ...toPosition(0), message: 'the aliases (`*name`) unfold to too much: write the values out' }];
  }
}

/** The aliases that cannot be followed, and why. */
function findInvalidAliases(document: ParsedYaml): readonly (readonly [offset: number, message: string])[] {
  const problems: [number, string][] = [];
  visit(document, {
    Alias(_, alias, ancestors) {
      const target = alias.resolve(document);
      const reason = target === undefined ? 'nothing before this has that name' : 'it would contain itself';
      if (target === undefined || ancestors.includes(target))
        problems.push([startOffset(alias) ?? 0, `\`*${alias.source}\` cannot be used here: ${reason}`]);
    },
  });
  return problems;
}

/** What an alias stands for, else the thing itself. */
const resolveAlias = (document: ParsedYaml, node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);

const nodeAt = (document: ParsedYaml, path: Path): unknown =>
  path.reduce<unknown>((node, step) => getChild(resolveAlias(document, node), step).node, document.contents);

/** What stands in a mapping or a list under a key or an index. */
function getChild(
  node: unknown,
  step: PropertyKey,
): { readonly pair?: Pair<unknown, unknown>; readonly node: unknown } {
  if (isSeq(node)) return { node: node.items[Number(step)] };
  const pair = isMap(node) ? node.items.find((each) => keyName(each) === String(step)) : undefined;
  return { ...(pair !== undefined && { pair }), node: pair?.value };
}

/** Where a value stands, or its key. What has no place of its own is where the thing around it is. */
function findOffset(document: ParsedYaml, path: Path, ofKey: boolean): number {
  let node: unknown = document.contents;
  let offset = startOffset(node) ?? 0;
  for (const [index, step] of path.entries()) {
    const child = getChild(resolveAlias(document, node), step);
    const { pair } = child;
    node = child.node;
    const keyOffset = startOffset(pair?.key) ?? offset;
    const valueOffset = pair !== undefined && isOmitted(node) ? undefined : startOffset(node);
    offset = ofKey && index === path.length - 1 ? keyOffset : (valueOffset ?? keyOffset);
  }
  return offset;
}

const keyName = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value) : '');

const startOffset = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined);

/** A value that is left out stands nowhere; its key does. */
const isOmitted = (node: unknown): boolean => isScalar(node) && node.value === null && node.source === '';

/** A scenario as the text of a file, under a comment. */
export function formatYamlDocument(value: object, comment: string): string {
  const lines = comment.split('\n').map((line) => `# ${line}`.trimEnd());
  return `${lines.join('\n')}\n${stringify(value, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false })}`;
}
