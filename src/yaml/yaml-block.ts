import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import type { TextPosition } from '../core/text-position.ts';
import type { FindingReport } from './finding-report.ts';
import { explainYamlError } from './parser-messages.ts';
import { readPlainYaml } from './plain-yaml.ts';
import type { YamlValue } from './value.ts';

/** More of them than any author needs, few enough that unfolding each of them costs nothing. */
const MAX_ALIASES = 100;

/** Reads a block of YAML that begins on line 2 of its file. Undefined if it is not YAML; the report then says why. */
export function readYamlBlock(block: string, report: FindingReport): YamlValue | undefined {
  const text = block.replaceAll('\r\n', '\n');
  return readPlainYaml(text) ?? parseYamlBlock(text, report);
}

/** The same by a parser that knows all of YAML. */
export function parseYamlBlock(text: string, report: FindingReport): YamlValue | undefined {
  const lines = new LineCounter();
  const toPosition = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: line + 1, column: Math.max(1, col) };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The parser compares every key with every other; reading the fields finds a repeated one with less work.
    uniqueKeys: false,
    resolveKnownTags: false,
    // 'silent' would also keep quiet about a second document.
    logLevel: 'error',
  });
  for (const { offset, message } of listYamlBlockErrors(document))
    report.error(toPosition(offset), `this is not valid YAML: ${message}`);
  for (const warning of document.warnings) report.warning(toPosition(warning.pos[0]), `YAML: ${warning.message}`);
  if (document.errors.length > 0) return undefined;
  const targets = resolveAliases(document.contents, report, toPosition);
  return targets && toYamlValue(document.contents, { line: 2, column: 1 }, toPosition, targets);
}

type AliasTargets = ReadonlyMap<Node, Node>;

/** What each alias stands for; undefined if one stands for nothing. Walks without recursion and never through an alias. */
function resolveAliases(
  root: unknown,
  report: FindingReport,
  toPosition: (offset: number) => TextPosition,
): AliasTargets | undefined {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const pending: unknown[] = [root];
  let isValid = true;
  const reportInvalid = (node: Node, message: string): void => {
    isValid = false;
    report.error(toPosition(node.range?.[0] ?? 0), message);
  };
  while (pending.length > 0) {
    const node = pending.pop();
    if (!isNode(node)) continue;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) reportInvalid(node, `nothing before this is marked \`&${node.source}\``);
      else targets.set(node, target);
      continue;
    }
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isSeq(node)) for (const item of node.items.toReversed()) pending.push(item);
    if (isMap(node)) for (const { key, value } of node.items.toReversed()) pending.push(value, key);
  }
  const [, tooMany] = [...targets.keys()].slice(MAX_ALIASES - 1);
  if (tooMany !== undefined)
    reportInvalid(tooMany, `there are more than ${MAX_ALIASES} aliases (\`*name\`): write the values out`);
  return isValid ? targets : undefined;
}

/** The parser's node as a value; `near` is where something that has no place of its own is said to be. */
function toYamlValue(
  node: unknown,
  fallbackPosition: TextPosition,
  toPosition: (offset: number) => TextPosition,
  targets: AliasTargets,
): YamlValue {
  if (!isNode(node)) return { kind: 'nothing', at: fallbackPosition };
  const at = node.range ? toPosition(node.range[0]) : fallbackPosition;
  const target = targets.get(node);
  if (target !== undefined) return { ...toYamlValue(target, at, toPosition, targets), at };
  if (isSeq(node))
    return { kind: 'list', at, items: () => node.items.map((item) => toYamlValue(item, at, toPosition, targets)) };
  if (isMap(node)) {
    const pairs = () =>
      node.items.map(({ key, value }) => {
        const name = toYamlValue(key, at, toPosition, targets);
        return [name, toYamlValue(value, name.at, toPosition, targets)] as const;
      });
    return { kind: 'mapping', at, pairs };
  }
  const scalar = isScalar(node) ? node.value : undefined;
  const source = isScalar(node) ? (node.source ?? String(scalar)) : '';
  if (typeof scalar === 'string') return { kind: 'text', at, text: scalar };
  if (typeof scalar === 'number') return { kind: 'number', at, number: scalar, source };
  if (typeof scalar === 'boolean') return { kind: 'boolean', at, boolean: scalar, source };
  return { kind: 'nothing', at };
}

/** What is wrong with a block of YAML, and where. */
interface YamlBlockError {
  readonly offset: number;
  readonly message: string;
}

/** What the parser complains about; where something is never closed, nothing that only follows from it. */
function listYamlBlockErrors(document: Document.Parsed): readonly YamlBlockError[] {
  const all = document.errors
    .filter(isFirstTab)
    .map((error) => ({ offset: error.pos[0], message: explainYamlError(error) }));
  const unclosed = findFirstUnclosed(document);
  return unclosed === undefined ? all : [...all.filter(({ offset }) => offset < unclosed.offset), unclosed];
}

/** Who indents one line with a tab does so with the others. */
const isFirstTab = ({ code }: YAMLError, index: number, all: readonly YAMLError[]): boolean =>
  code !== 'TAB_AS_INDENT' || all.findIndex((each) => each.code === code) === index;

/** A bracket or a quote that is never closed, where it opens: the parser says where it gives up, maybe far below. */
function findFirstUnclosed({ errors, contents }: Document.Parsed): YamlBlockError | undefined {
  const error = errors.find(({ message }) => UNCLOSED.test(message));
  const closer = UNCLOSED.exec(error?.message ?? '')?.[1];
  if (error === undefined || closer === undefined || errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) return;
  let openedAt: number | undefined;
  visit(contents, (_, node) => {
    if (isNode(node) && node.range?.[1] === error.pos[0] && closingCharacterOf(node) === closer)
      openedAt = node.range[0];
  });
  if (openedAt === undefined) return;
  const opener = OPENERS[closer] ?? closer;
  const lines = opener === closer ? '' : ', and if that stands on a later line, indent the line';
  return { offset: openedAt, message: `this \`${opener}\` is never closed: write its \`${closer}\`${lines}` };
}

const UNCLOSED = /(?:end with a|Missing closing) ([\]}"'])/;
const OPENERS: Readonly<Record<string, string>> = { ']': '[', '}': '{' };

function closingCharacterOf(node: Node): string | undefined {
  if (isSeq(node)) return ']';
  if (isMap(node)) return '}';
  return isScalar(node) && node.type === 'QUOTE_SINGLE' ? "'" : '"';
}
