import { isNode, type Node, nameOfIdentifier } from './node.ts';

/** A name that a file declares and exports. Names that it only passes on from another file are left out. */
export interface ExportedDeclaration {
  readonly name: string;
  readonly line: number;
  readonly hasComment: boolean;
}

/** Reports exported names that are declared in more than one file: a name has one meaning in all of src. */
export function findDuplicateExports(modules: readonly DeclaringFile[]): readonly string[] {
  const placesByName = new Map<string, string[]>();
  for (const { path, exports } of modules) {
    for (const { name, line } of exports) {
      placesByName.set(name, [...(placesByName.get(name) ?? []), `${path}:${line}`]);
    }
  }
  return [...placesByName]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name} is declared in ${places.join(' and ')}`);
}

/** Reports exported declarations without a comment directly above them. */
export const findMissingComments = (modules: readonly DeclaringFile[]): readonly string[] =>
  modules.flatMap(({ path, exports }) =>
    exports
      .filter(({ hasComment }) => !hasComment)
      .map(({ name, line }) => `${path}:${line} exports ${name} without a comment above it`),
  );

interface DeclaringFile {
  readonly path: string;
  readonly exports: readonly ExportedDeclaration[];
}

interface ParsedFile {
  readonly program: Node;
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[];
  readonly text: string;
  readonly lineAt: (offset: number) => number;
}

/** Lists the declarations that a file exports, each once: overloads and a type beside a value of its name count as one. */
export function findExports({ program, comments, text, lineAt }: ParsedFile): readonly ExportedDeclaration[] {
  const statements = program.body as readonly Node[];
  const declarations = new Map<string, Node>();
  for (const statement of statements) {
    for (const name of declaredNames(statement)) {
      if (!declarations.has(name)) declarations.set(name, statement);
    }
  }
  const exported = new Map<string, Node>();
  const add = (name: string, declaredAt: Node): void => {
    if (!exported.has(name)) exported.set(name, declaredAt);
  };
  for (const statement of statements) {
    if (statement.type === 'ExportDefaultDeclaration') add('default', statement);
    if (statement.type !== 'ExportNamedDeclaration') continue;
    for (const name of declaredNames(statement)) add(name, statement);
    for (const { local, exported: alias } of (statement.specifiers ?? []) as readonly Node[]) {
      const [from, to] = [nameOfIdentifier(local), nameOfIdentifier(alias)];
      if (from === undefined || to === undefined) continue;
      const declaration = isNode(statement.source) ? undefined : declarations.get(from);
      // A new name for something from elsewhere is a declaration of that name.
      if (declaration !== undefined || from !== to) add(to, declaration ?? statement);
    }
  }
  const hasCommentAbove = (offset: number): boolean => {
    const above = comments.find(({ start, end }) => start < offset && isLineAbove(text.slice(end, offset)));
    if (above === undefined || !startsLine(text, above.start)) return false;
    return !isDirective(above.value) || hasCommentAbove(above.start);
  };
  return [...exported].map(([name, { start }]) => ({ name, line: lineAt(start), hasComment: hasCommentAbove(start) }));
}

/** The names that a statement declares, exported or not. */
function declaredNames(statement: Node): readonly string[] {
  const declaration = isNode(statement.declaration) ? statement.declaration : statement;
  const declarators = (declaration.declarations ?? [declaration]) as readonly Node[];
  return declarators.flatMap(({ id }) => boundNames(id));
}

/** The names in a declaration's left side, which may be a destructuring pattern. */
function boundNames(pattern: unknown): readonly string[] {
  if (!isNode(pattern)) return [];
  if (pattern.type === 'Identifier') return [nameOfIdentifier(pattern) ?? ''];
  const parts = [pattern.properties, pattern.elements].flat().filter(isNode);
  return [...parts, pattern.value, pattern.argument, pattern.left].flatMap(boundNames);
}

/** Comments for tools explain nothing to a reader. */
const isDirective = (comment: string): boolean => /^\s*(?:biome-ignore|@ts-)/.test(comment);

const isLineAbove = (between: string): boolean => /^[^\S\n]*\n[^\S\n]*$/.test(between);

const startsLine = (text: string, offset: number): boolean => /(?:^|\n)[^\S\n]*$/.test(text.slice(0, offset));
