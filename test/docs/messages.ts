import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, visitorKeys } from 'oxc-parser';
import { PROJECT } from './pages.ts';

/** Stands for the parts of a message that vary, both on a page and in the texts here. */
export const ANYTHING = '…';

/** The texts of one source file, with `…` for each `${…}` of a template. */
export interface SourceTexts {
  readonly all: readonly string[];
  /** The texts that are passed to one of the `REPORTERS`. */
  readonly reported: readonly { readonly reporter: string; readonly text: string }[];
}

/** Collects all texts that the program can print, including those of the argument parser. */
export function sourceTexts(): readonly SourceTexts[] {
  const src = join(PROJECT, 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const commander = join(PROJECT, 'node_modules', 'commander', 'lib', 'command.js');
  return [...files.map((file) => join(src, file)), commander].map((file) => {
    const nodes = [...walk(parse(file))];
    return { all: nodes.flatMap(textsOf), reported: nodes.flatMap(reportedTexts) };
  });
}

/** Checks that some source file can print this message: all its fixed parts are in texts of that file. */
export const canBePrinted = (message: string, sources: readonly SourceTexts[]): boolean =>
  isSpecific(message) &&
  sources.some(({ all }) => partsOf(message).every((part) => all.some((text) => text.includes(part))));

/** Checks that a text of the program is covered by a message on a page: the message's fixed parts are in it, in order. */
export function isCoveredBy(text: string, message: string): boolean {
  let at = 0;
  return partsOf(message).every((part) => {
    const found = text.indexOf(part, at);
    at = found + part.length;
    return found !== -1;
  });
}

const partsOf = (message: string): readonly string[] => message.split(ANYTHING).map((part) => part.trim());

/** A few letters are in every file and prove nothing. */
const isSpecific = (message: string): boolean => message.replace(/\P{L}/gu, '').length >= 7;

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

function parse(path: string): Node {
  const { program, errors } = parseSync(path, readFileSync(path, 'utf8'));
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  return program as unknown as Node;
}

function* walk(node: Node): Generator<Node> {
  yield node;
  for (const key of visitorKeys[node.type] ?? []) {
    for (const child of [node[key]].flat()) if (isNode(child)) yield* walk(child);
  }
}

/** The functions that report a problem to the user, with the position of the message among their arguments. */
export const REPORTERS: Readonly<Record<string, number>> = {
  RaymondError: 0,
  usageError: 0,
  workflowPathError: 0,
  configError: 0,
  diskError: 0,
  answerProblem: 1,
  'report.error': 1,
  'report.warning': 1,
};

function reportedTexts(node: Node): SourceTexts['reported'] {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return [];
  const { callee, arguments: given } = node as unknown as { callee: Node; arguments: readonly Node[] };
  const reporter = nameOf(callee);
  const message = given[REPORTERS[reporter] ?? given.length];
  if (message === undefined) return [];
  return textsOf(message)
    .filter(isSpecific)
    .map((text) => ({ reporter, text }));
}

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return '';
  return node.type === 'MemberExpression' ? `${nameOf(node.object)}.${nameOf(node.property)}` : String(node.name);
};

/** The text that a node is, perhaps one of two, perhaps in pieces that are added up. */
function textsOf(node: Node): readonly string[] {
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : [];
  if (node.type === 'TemplateLiteral') {
    const pieces = node.quasis as readonly { readonly value: { readonly cooked: string } }[];
    return [pieces.map(({ value }) => value.cooked).join(ANYTHING)];
  }
  const { left, right, consequent, alternate } = node;
  if (node.type === 'ConditionalExpression') return [consequent, alternate].filter(isNode).flatMap(textsOf);
  if (node.type !== 'BinaryExpression' || node.operator !== '+' || !isNode(left) || !isNode(right)) return [];
  return textsOf(left).flatMap((head) => textsOf(right).map((tail) => head + tail));
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
