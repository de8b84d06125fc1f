import { parseSync } from 'oxc-parser';
import type { SourceFile } from './module.ts';
import { isNode, lineCounter, type Node, nameOfIdentifier, walk } from './node.ts';

/** The file with the table from which flags, config.toml, help, scenarios and the state file are derived. */
const TABLE_FILE = 'src/core/options/options.ts';
const TABLE_NAME = 'OPTION_TABLE';

/** The commands that take the options of a run. */
const RUN_COMMANDS = new Set(['run', 'resume']);

/** Flags of these commands that are not options: they concern one invocation, and a run does not remember them. */
const INVOCATION_FLAGS = new Set(
  `--input --dir --name --run-id --json --events --quiet --verbose --log-file --resume --init-config --retry
  --take-over --refuse-changed-code`.split(/\s+/),
);

/** Names that agents, tags and prompts have as well, so that they alone do not make a list of options. */
const SHARED_NAMES = new Set(['model', 'effort', 'variables', 'agent', 'timeout', 'timeoutMs', 'permission_mode']);
const MAX_OPTIONS_IN_OBJECT = 3;

/** Reports options that are added past the table: a flag, a member of `Options`, or another list of options. */
export function findUnlistedOptions(files: readonly SourceFile[]): readonly string[] {
  const programs = files.map((file) => ({ ...file, program: parseProgram(file) }));
  const table = programs.find(({ path }) => path === TABLE_FILE);
  const known = table === undefined ? new Set<string>() : tableNames(table.program);
  if (known.size === 0) return [`${TABLE_FILE} has no ${TABLE_NAME}`];
  return programs.flatMap(({ path, text, program }) => {
    if (path === TABLE_FILE) return [];
    const lineAt = lineCounter(text);
    return [...walk(program)].flatMap(({ node }) =>
      [...flagViolations(node, program), ...memberViolations(node), ...listViolations(node, known)].map(
        (violation) => `${path}:${lineAt(node.start)} ${violation}`,
      ),
    );
  });
}

const parseProgram = ({ path, text }: SourceFile): Node => parseSync(path, text).program as unknown as Node;

/** The names of the options in a run, and their keys in config.toml. */
function tableNames(program: Node): ReadonlySet<string> {
  const rows = propertiesOf(initializerOf(TABLE_NAME, program));
  const keys = rows.flatMap(({ value }) =>
    [...walk(value as Node)].filter(({ node }) => isKeyed(node, 'key')).map(({ node }) => nameOfIdentifier(node.value)),
  );
  return new Set([...rows.map(({ key }) => nameOfIdentifier(key)), ...keys].filter((name) => name !== undefined));
}

/** Flags that a command with options spells itself. */
function flagViolations(node: Node, program: Node): readonly string[] {
  const command = nameOfIdentifier(propertiesOf(node).find((property) => isKeyed(property, 'name'))?.value);
  const flags = propertiesOf(node).find((property) => isKeyed(property, 'flags'))?.value;
  if (command === undefined || !RUN_COMMANDS.has(command) || !isNode(flags)) return [];
  return literalFlags(flags, program)
    .filter((flag) => !INVOCATION_FLAGS.has(flag))
    .map((flag) => `gives \`${command}\` the flag ${flag}, which is not from the table of options`);
}

/** The flags in an expression, also behind the names of constants of the same file. */
function literalFlags(expression: Node, program: Node): readonly string[] {
  return [...walk(expression)].flatMap(({ node }) => {
    const [, flag] = /^(--[\w-]+)/.exec(typeof node.value === 'string' ? node.value : '') ?? [];
    if (flag !== undefined) return [flag];
    const constant = node.type === 'Identifier' ? initializerOf(String(node.name), program) : undefined;
    return constant?.type === 'ArrayExpression' ? literalFlags(constant, program) : [];
  });
}

/** Types that add members to `Options`. */
function memberViolations(node: Node): readonly string[] {
  const violation = ['adds members to `Options`: put them into the table of options'];
  if (node.type === 'TSInterfaceDeclaration') {
    return (node.extends as readonly Node[]).some((parent) => mentionsOptions(parent)) ? violation : [];
  }
  if (node.type !== 'TSIntersectionType') return [];
  const parts = node.types as readonly Node[];
  return parts.some(mentionsOptions) && parts.some(({ type }) => type === 'TSTypeLiteral') ? violation : [];
}

/** True for `Options` and `Partial<Options>`, but not for a type that has them as a member. */
const mentionsOptions = (node: Node): boolean =>
  node.type !== 'TSTypeLiteral' && [...walk(node)].some(({ node: part }) => nameOfIdentifier(part) === 'Options');

/** Objects with several options as keys, in which one more would be an option that the table does not have. */
function listViolations(node: Node, known: ReadonlySet<string>): readonly string[] {
  const names = propertiesOf(node)
    .map(({ key }) => nameOfIdentifier(key))
    .filter((name) => name !== undefined && known.has(name) && !SHARED_NAMES.has(name));
  if (names.length <= MAX_OPTIONS_IN_OBJECT) return [];
  return [`lists the options ${names.join(', ')} again: derive the list from the table of options`];
}

const propertiesOf = (node: Node | undefined): readonly Node[] =>
  node?.type === 'ObjectExpression'
    ? (node.properties as readonly Node[]).filter(({ type }) => type === 'Property')
    : [];

const isKeyed = (node: Node, key: string): boolean => node.type === 'Property' && nameOfIdentifier(node.key) === key;

/** The value that a constant of the program is declared with, without `as const` and `satisfies`. */
function initializerOf(name: string, program: Node): Node | undefined {
  const declared = [...walk(program)].find(
    ({ node }) => node.type === 'VariableDeclarator' && nameOfIdentifier(node.id) === name,
  );
  let value = declared?.node.init;
  while (isNode(value) && (value.type === 'TSAsExpression' || value.type === 'TSSatisfiesExpression')) {
    value = value.expression;
  }
  return isNode(value) ? value : undefined;
}
