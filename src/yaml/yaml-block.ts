import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { readPlainYaml } from './plain-yaml.ts';
import type { FindingReport, TextPosition } from './finding-report.ts';
import type { YamlValue } from './value.ts';
import { listYamlBlockErrors } from './yaml-block-errors.ts';

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
