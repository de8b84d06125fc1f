import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, visitorKeys } from 'oxc-parser';
import { PROJECT } from './pages.ts';

/** What stands for whatever differs from time to time, in a page and in the texts here. */
export const ANYTHING = '…';

/** The texts of one source file, `…` where a template has its `${…}`; `told` are those that an error begins with. */
export interface Texts {
  readonly all: readonly string[];
  readonly told: readonly string[];
}

/** All texts that the program can print. The parser of arguments has some of its own. */
export function sourceTexts(): readonly Texts[] {
  const src = join(PROJECT, 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const commander = join(PROJECT, 'node_modules', 'commander', 'lib', 'command.js');
  return [...files.map((file) => join(src, file)), commander].map((file) => {
    const nodes = [...walk(parse(file))];
    return { all: nodes.flatMap(textsOf), told: nodes.flatMap(textsTold) };
  });
}

/** Whether a message on a page is one that some file can print: all its words are texts of that file. */
export const canBeSaid = (message: string, sources: readonly Texts[]): boolean =>
  isTelling(message) &&
  sources.some(({ all }) => partsOf(message).every((part) => all.some((text) => text.includes(part))));

/** Whether who was told this text finds it under that message: its words are in the text, in their order. */
export function isFoundUnder(text: string, message: string): boolean {
  let at = 0;
  return partsOf(message).every((part) => {
    const found = text.indexOf(part, at);
    at = found + part.length;
    return found !== -1;
  });
}

const partsOf = (message: string): readonly string[] => message.split(ANYTHING).map((part) => part.trim());

/** A few letters are in every file. */
const isTelling = (message: string): boolean => message.replace(/\P{L}/gu, '').length >= 7;

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

/** Who tells the user that something is wrong, and which of the things they are given are the words. */
const TELLERS: Readonly<Record<string, number>> = {
  RaymondError: 0,
  usage: 0,
  wrongPath: 0,
  refusal: 0,
  diskProblem: 0,
  problem: 1,
  'report.error': 1,
  'report.warning': 1,
};

function textsTold(node: Node): readonly string[] {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return [];
  const { callee, arguments: given } = node as unknown as { callee: Node; arguments: readonly Node[] };
  const words = given[TELLERS[nameOf(callee)] ?? given.length];
  return words === undefined ? [] : textsOf(words).filter(isTelling);
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
