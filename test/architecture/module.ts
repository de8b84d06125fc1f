import { parseSync } from 'oxc-parser';
import { type ExportedDeclaration, findExports } from './exports.ts';
import { isNode, lineCounter, type Node, nameOfIdentifier, type Place, walk } from './node.ts';

/** A source file to check; the tests make some up. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The parts of one source file that the checks look at. */
export interface Module {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly exports: readonly ExportedDeclaration[];
  readonly functions: readonly FunctionSpan[];
  /** Uses of the clock, of randomness, or of a global that does I/O. */
  readonly impurities: readonly Impurity[];
  /** The parser's first error; a file that has one is not checked any further. */
  readonly syntaxError: string | undefined;
}

/** Any reference to another file: `import`, `export from`, `import()`, `import type`, `typeof import()`, `require()`. */
export interface Import {
  /** Undefined when it is computed at run time. */
  readonly specifier: string | undefined;
  readonly line: number;
}

/** A function's name and length. */
export interface FunctionSpan {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/** An expression that makes its function depend on more than its arguments. */
export interface Impurity {
  readonly expression: string;
  readonly line: number;
}

/** Parses one file with a real parser, so that neither a comment nor an odd line break can hide an import. */
export function parseModule({ path, text }: SourceFile): Module {
  const { program, comments, errors } = parseSync(path, text);
  const lineAt = lineCounter(text);
  const imports: Import[] = [];
  const functions: FunctionSpan[] = [];
  const impurities: Impurity[] = [];
  for (const place of walk(program as unknown as Node)) {
    const { node } = place;
    const line = lineAt(node.start);
    const source = importedBy(node);
    if (source !== undefined) imports.push({ specifier: literal(source), line });
    if (FUNCTIONS.has(node.type)) functions.push({ name: nameOf(place), line, lines: lineAt(node.end) - line + 1 });
    const expression = impureExpression(place);
    if (expression !== undefined) impurities.push({ expression, line });
  }
  return {
    path,
    lines: lineAt(text.trimEnd().length),
    imports,
    exports: findExports({ program: program as unknown as Node, comments, text, lineAt }),
    functions,
    impurities,
    syntaxError: errors[0]?.message,
  };
}

const IMPORTS = new Set([
  'ImportDeclaration',
  'ExportAllDeclaration',
  'ExportNamedDeclaration',
  'ImportExpression',
  'TSImportType',
]);

/** The expression that names the imported file, if the node imports one. */
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
    const name = nameOfIdentifier(named);
    if (name !== undefined) return name;
  }
  return '(anonymous)';
}

/** Globals that no pure code uses. `Date` and `Math` also have pure members and are handled separately. */
const IMPURE_GLOBALS = new Set(
  `process console performance fetch crypto globalThis global self navigator require eval Function
  setTimeout setInterval setImmediate queueMicrotask WebSocket`.split(/\s+/),
);

/** The name of an impure global that is used here. A local variable of such a name counts too: it would mislead readers. */
function impureExpression({ node, slot, parent }: Place): string | undefined {
  if (node.type === 'MetaProperty' && isNamed(node.meta, 'import')) return 'import.meta';
  if (node.type !== 'Identifier' || parent === undefined) return undefined;
  const around = parent.node;
  const isLabel = (slot === 'property' || slot === 'key') && around.computed !== true;
  if (isLabel || around.type === 'TSTypeReference') return undefined;
  const name = String(node.name);
  if (IMPURE_GLOBALS.has(name)) return name;
  if (name === 'Math') return isMember(around, slot) && !isNamed(around.property, 'random') ? undefined : 'Math.random';
  if (name !== 'Date') return undefined;
  if (around.type === 'NewExpression') return (around.arguments as Node[]).length > 0 ? undefined : 'new Date()';
  const isPure = isMember(around, slot) && (isNamed(around.property, 'parse') || isNamed(around.property, 'UTC'));
  return isPure ? undefined : 'Date.now';
}

const isMember = (node: Node, slot: string): boolean =>
  node.type === 'MemberExpression' && slot === 'object' && node.computed !== true;

const isNamed = (node: unknown, name: string): boolean => nameOfIdentifier(node) === name;
