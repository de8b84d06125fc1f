import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { readPlainYaml } from './plain-yaml.ts';
import type { Place, Report } from './report.ts';
import type { Value } from './value.ts';
import { wrongIn } from './yaml-errors.ts';

/** More of them than any author needs, few enough that unfolding each of them costs nothing. */
const MOST_ALIASES = 100;

/** Reads a block of YAML that begins on line 2 of its file. Undefined if it is not YAML; the report then says why. */
export function readYaml(block: string, report: Report): Value | undefined {
  const text = block.replaceAll('\r\n', '\n');
  return readPlainYaml(text) ?? parseYaml(text, report);
}

/** The same by a parser that knows all of YAML. */
export function parseYaml(text: string, report: Report): Value | undefined {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
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
  for (const { offset, message } of wrongIn(document))
    report.error(place(offset), `this is not valid YAML: ${message}`);
  for (const warning of document.warnings) report.warning(place(warning.pos[0]), `YAML: ${warning.message}`);
  if (document.errors.length > 0) return undefined;
  const targets = aliasTargets(document.contents, report, place);
  return targets && toValue(document.contents, { line: 2, column: 1 }, place, targets);
}

type Targets = ReadonlyMap<Node, Node>;

/** What each alias stands for; undefined if one stands for nothing. Walks without recursion and never through an alias. */
function aliasTargets(root: unknown, report: Report, place: (offset: number) => Place): Targets | undefined {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const ahead: unknown[] = [root];
  let sound = true;
  const wrong = (node: Node, message: string): void => {
    sound = false;
    report.error(place(node.range?.[0] ?? 0), message);
  };
  while (ahead.length > 0) {
    const node = ahead.pop();
    if (!isNode(node)) continue;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) wrong(node, `nothing before this is marked \`&${node.source}\``);
      else targets.set(node, target);
      continue;
    }
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isSeq(node)) for (const item of node.items.toReversed()) ahead.push(item);
    if (isMap(node)) for (const { key, value } of node.items.toReversed()) ahead.push(value, key);
  }
  const [, tooMany] = [...targets.keys()].slice(MOST_ALIASES - 1);
  if (tooMany !== undefined)
    wrong(tooMany, `there are more than ${MOST_ALIASES} aliases (\`*name\`): write the values out`);
  return sound ? targets : undefined;
}

/** The parser's node as a value; `near` is where something that has no place of its own is said to be. */
function toValue(node: unknown, near: Place, place: (offset: number) => Place, targets: Targets): Value {
  if (!isNode(node)) return { kind: 'nothing', at: near };
  const at = node.range ? place(node.range[0]) : near;
  const target = targets.get(node);
  if (target !== undefined) return { ...toValue(target, at, place, targets), at };
  if (isSeq(node))
    return { kind: 'list', at, items: () => node.items.map((item) => toValue(item, at, place, targets)) };
  if (isMap(node)) {
    const pairs = () =>
      node.items.map(({ key, value }) => {
        const name = toValue(key, at, place, targets);
        return [name, toValue(value, name.at, place, targets)] as const;
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
