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
  Schema,
} from 'yaml';
import type { TextPosition } from '../language/text/text.ts';
import type { FindingReport } from './finding-report.ts';
import { explainSyntaxErrors } from './syntax-errors.ts';
import type { YamlValue } from './value.ts';

/** More than any author needs, few enough that unfolding them costs nothing. An alias within an alias counts each time. */
const MAX_ALIASES = 1000;

/** One for all documents: to make it takes as long as to read a short one. */
let schema: Schema | undefined;

/** Deeper than any author nests, shallow enough for every function that calls itself on what is inside. */
const MAX_DEPTH = 100;

/**
 * Reads YAML that begins on the given line of its file. Undefined if it is invalid; the report then says why.
 * Keys that are given twice are left to `readYamlFields`, which does not compare every key with every other.
 */
export function readYaml(text: string, report: FindingReport, firstLine = 1): YamlValue | undefined {
  const source = text.replaceAll('\r\n', '\n');
  const lineCounter = new LineCounter();
  const toPosition = (offset: number): TextPosition => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line) + firstLine - 1, column: Math.max(1, col) };
  };
  schema ??= new Schema({ schema: 'core', resolveKnownTags: false });
  // The log level 'silent' would also keep quiet about a second document.
  const options = { prettyErrors: false, uniqueKeys: false, schema, logLevel: 'error' } as const;
  const document = parseDocument(source, { ...options, lineCounter });
  const syntaxError = explainSyntaxErrors(document, source);
  if (syntaxError !== undefined)
    report.error(toPosition(syntaxError.offset), `this is not valid YAML: ${syntaxError.message}`);
  for (const warning of document.warnings) report.warning(toPosition(warning.pos[0]), `YAML: ${warning.message}`);
  if (syntaxError !== undefined) return undefined;
  const converter = new NodeConverter(toPosition, report);
  const value = converter.convert(document.contents, { line: firstLine, column: 1 });
  return converter.isValid ? value : undefined;
}

/** A marked value, and how many aliases are unfolded in it; null while it is being read. */
type Anchor = { readonly value: YamlValue; readonly aliases: number } | null;

/** Turns the parser's nodes into values, in the order of the file, with aliases unfolded. */
class NodeConverter {
  isValid = true;
  private readonly anchors = new Map<string, Anchor>();
  private aliases = 0;
  private readonly toPosition: (offset: number) => TextPosition;
  private readonly report: FindingReport;

  constructor(toPosition: (offset: number) => TextPosition, report: FindingReport) {
    this.toPosition = toPosition;
    this.report = report;
  }

  /** The value of a node; what has no position of its own gets the fallback. */
  convert(node: unknown, fallback: TextPosition, depth = 0): YamlValue {
    if (!isNode(node)) return { kind: 'nothing', at: fallback };
    const at = node.range ? this.toPosition(node.range[0]) : fallback;
    if (isAlias(node)) return this.unfoldAlias(node.source, at);
    if (depth > MAX_DEPTH) return this.refuse(at, 'this is nested too deeply');
    if (node.anchor === undefined) return this.convertContent(node, at, depth);
    const aliasesBefore = this.aliases;
    this.anchors.set(node.anchor, null);
    const value = this.convertContent(node, at, depth);
    this.anchors.set(node.anchor, { value, aliases: this.aliases - aliasesBefore });
    return value;
  }

  private convertContent(node: Node, at: TextPosition, depth: number): YamlValue {
    if (isSeq(node)) return { kind: 'list', at, items: node.items.map((item) => this.convert(item, at, depth + 1)) };
    if (isMap(node))
      return { kind: 'mapping', at, pairs: node.items.flatMap((pair) => this.convertPair(pair, at, depth)) };
    const scalar = isScalar(node) ? node.value : undefined;
    const source = isScalar(node) ? (node.source ?? String(scalar)) : '';
    if (typeof scalar === 'string') return { kind: 'text', at, text: scalar };
    if (typeof scalar === 'number') return { kind: 'number', at, number: scalar, source };
    if (typeof scalar === 'boolean') return { kind: 'boolean', at, boolean: scalar, source };
    return { kind: 'nothing', at };
  }

  private convertPair({ key, value }: Pair, at: TextPosition, depth: number): [YamlValue, YamlValue][] {
    const name = this.convert(key, at, depth + 1);
    if (isScalar(key) && key.value === '<<' && key.type === 'PLAIN') {
      this.report.error(name.at, 'merge keys (`<<`) are not supported: write the keys out');
      return [];
    }
    // A value that is left out has no position; its key does.
    const isOmitted = isScalar(value) && value.value === null && value.source === '';
    return [[name, isOmitted ? { kind: 'nothing', at: name.at } : this.convert(value, name.at, depth + 1)]];
  }

  private unfoldAlias(name: string, at: TextPosition): YamlValue {
    const anchor = this.anchors.get(name);
    if (anchor === undefined)
      return this.refuse(at, `\`*${name}\` cannot be used here: nothing before this is marked \`&${name}\``);
    if (anchor === null) return this.refuse(at, `\`*${name}\` cannot be used here: it would contain itself`);
    const isWithinLimit = this.aliases <= MAX_ALIASES;
    this.aliases += 1 + anchor.aliases;
    if (isWithinLimit && this.aliases > MAX_ALIASES)
      this.refuse(at, `there are more than ${MAX_ALIASES} aliases (\`*name\`): write the values out`);
    return { ...anchor.value, at };
  }

  private refuse(at: TextPosition, message: string): YamlValue {
    this.isValid = false;
    this.report.error(at, message);
    return { kind: 'nothing', at };
  }
}
