import { parseSync, visitorKeys } from 'oxc-parser';

/** A file as the checks get it: made-up ones serve as well as those on disk. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** What the checks need to know about one source file. */
export interface Module {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly functions: readonly FunctionSpan[];
  /** Reads of the clock, of chance, or of a global that reaches the world. */
  readonly impurities: readonly Spot[];
  /** The parser's complaint; what could not be parsed was not checked either. */
  readonly broken: string | undefined;
}

/** Any way one file names another: `import`, `export from`, `import()`, `import type`, `typeof import()`, `require()`. */
export interface Import {
  /** Undefined when it is computed at run time. */
  readonly specifier: string | undefined;
  readonly line: number;
}

export interface FunctionSpan {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

export interface Spot {
  readonly what: string;
  readonly line: number;
}

/** Parses one file with a real parser, so that neither a comment nor an odd line break can hide an import. */
export function parseModule({ path, text }: SourceFile): Module {
  const { program, errors } = parseSync(path, text);
  const lineAt = lineCounter(text);
  const imports: Import[] = [];
  const functions: FunctionSpan[] = [];
  const impurities: Spot[] = [];
  for (const place of walk(program as unknown as Node)) {
    const { node } = place;
    const line = lineAt(node.start);
    const source = importedBy(node);
    if (source !== undefined) imports.push({ specifier: literal(source), line });
    if (FUNCTIONS.has(node.type)) functions.push({ name: nameOf(place), line, lines: lineAt(node.end) - line + 1 });
    const what = impurity(place);
    if (what !== undefined) impurities.push({ what, line });
  }
  return { path, lines: lineAt(text.trimEnd().length), imports, functions, impurities, broken: errors[0]?.message };
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A node and where it hangs: `slot` is the parent's key that holds it. */
interface Place {
  readonly node: Node;
  readonly slot: string;
  readonly parent: Place | undefined;
}

function* walk(node: Node, slot = '', parent?: Place): Generator<Place> {
  const place = { node, slot, parent };
  yield place;
  for (const key of visitorKeys[node.type] ?? []) {
    for (const child of [node[key]].flat()) {
      if (isNode(child)) yield* walk(child, key, place);
    }
  }
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const IMPORTS = new Set([
  'ImportDeclaration',
  'ExportAllDeclaration',
  'ExportNamedDeclaration',
  'ImportExpression',
  'TSImportType',
]);

/** The expression that says what is imported, if the node imports at all. */
function importedBy(node: Node): Node | undefined {
  if (IMPORTS.has(node.type)) return isNode(node.source) ? node.source : undefined;
  if (node.type === 'TSExternalModuleReference') return node.expression as Node;
  if (node.type !== 'CallExpression' || !isNamed(node.callee, 'require')) return undefined;
  return (node.arguments as Node[])[0];
}

function literal(node: Node): string | undefined {
  if (typeof node.value === 'string') return node.value;
  const [only, more] = (node.quasis ?? []) as { value: { cooked: string } }[];
  return more === undefined ? only?.value.cooked : undefined;
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** A function's own name, or that of the variable, property or method that holds it. */
function nameOf({ node, parent }: Place): string {
  for (const named of [node.id, parent?.node.id, parent?.node.key]) {
    if (isNode(named) && typeof named.name === 'string') return named.name;
  }
  return '(anonymous)';
}

/** `Date` and `Math` have pure parts and are looked at more closely. */
const WORLD = new Set(
  `process console performance fetch crypto globalThis global self navigator require eval Function
  setTimeout setInterval setImmediate queueMicrotask WebSocket`.split(/\s+/),
);

/** What an expression reads that is not in its arguments. A local of such a name counts too: it would only mislead. */
function impurity({ node, slot, parent }: Place): string | undefined {
  if (node.type === 'MetaProperty' && isNamed(node.meta, 'import')) return 'import.meta';
  if (node.type !== 'Identifier' || parent === undefined) return undefined;
  const around = parent.node;
  const isLabel = (slot === 'property' || slot === 'key') && around.computed !== true;
  if (isLabel || around.type === 'TSTypeReference') return undefined;
  const name = String(node.name);
  if (WORLD.has(name)) return name;
  if (name === 'Math') return isMember(around, slot) && !isNamed(around.property, 'random') ? undefined : 'Math.random';
  if (name !== 'Date') return undefined;
  if (around.type === 'NewExpression') return (around.arguments as Node[]).length > 0 ? undefined : 'new Date()';
  const isPure = isMember(around, slot) && (isNamed(around.property, 'parse') || isNamed(around.property, 'UTC'));
  return isPure ? undefined : 'Date.now';
}

const isMember = (node: Node, slot: string): boolean =>
  node.type === 'MemberExpression' && slot === 'object' && node.computed !== true;

const isNamed = (node: unknown, name: string): boolean => isNode(node) && node.name === name;

function lineCounter(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map((found) => found.index + 1)];
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}
