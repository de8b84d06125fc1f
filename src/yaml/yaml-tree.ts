import { Document, isMap, isScalar, type Pair, parse, parseDocument, Scalar, visit, YAMLMap } from 'yaml';

/** A mapping as its author wrote it, comments included, that can be taken apart and put together again. */
export class YamlTree {
  private readonly map: YAMLMap;

  private constructor(map: YAMLMap) {
    this.map = map;
  }

  /** Parses a text that `readYaml` accepts and that is a mapping, or nothing but comments. Aliases become copies. */
  static parse(text: string): YamlTree {
    const document = parseDocument(text.replaceAll('\r\n', '\n'), { uniqueKeys: false, schema: 'core' });
    visit(document, { Alias: (_, alias) => alias.resolve(document)?.clone() as never });
    visit(document, {
      Value: (_, node) => {
        delete node.anchor;
      },
    });
    const { contents } = document;
    const map = isMap(contents) ? (contents as YAMLMap) : new YAMLMap();
    map.commentBefore = joinComments(document.commentBefore, contents?.commentBefore);
    map.comment = joinComments(contents?.comment, document.comment);
    return new YamlTree(map);
  }

  get isEmpty(): boolean {
    return this.map.items.length === 0 && !this.map.comment && !this.map.commentBefore;
  }

  get keys(): readonly string[] {
    return this.map.items.map(keyOf);
  }

  /** The mapping under a key, perhaps with the comment above that key; undefined if there is none. */
  child(name: string, comment?: 'with comment'): YamlTree | undefined {
    const pair = this.map.items.find((item) => keyOf(item) === name);
    if (!isMap(pair?.value)) return undefined;
    const map = pair.value.clone() as YAMLMap;
    map.flow = false;
    if (comment !== undefined) map.commentBefore = joinComments(this.commentAbove(pair), map.commentBefore);
    return new YamlTree(map);
  }

  /** The same without some keys; comments above them go to its end. */
  without(isLeftOut: (key: string) => boolean): YamlTree {
    const map = this.map.clone() as YAMLMap;
    const leftOut = map.items.filter((item) => isLeftOut(keyOf(item)));
    map.items = map.items.filter((item) => !leftOut.includes(item));
    const comments = leftOut.map(({ key }) => (isScalar(key) ? key.commentBefore : undefined));
    map.comment = joinComments(...comments, map.comment);
    return new YamlTree(map);
  }

  /** Adds a text, in lines as they are where YAML can hold them. */
  addText(key: string, text: string): void {
    this.map.add({ key: new Scalar(key), value: toScalar(text) });
  }

  /** Adds a mapping, below an empty line. */
  addTree(name: string, tree: YamlTree): void {
    const key = new Scalar(name);
    key.spaceBefore = this.map.items.length > 0;
    this.map.add({ key, value: tree.map });
  }

  /** The text of it, which is empty if it is. */
  format(): string {
    if (this.isEmpty) return '';
    const document = new Document(this.map, { uniqueKeys: false });
    // Without keys, the comments are all there is.
    if (this.map.items.length === 0)
      return `${joinComments(this.map.commentBefore, this.map.comment)?.replace(/^/gm, '#')}\n`;
    return document.toString({ lineWidth: 0 });
  }

  /** The comment above the first key belongs to the mapping as a whole, for the parser. */
  private commentAbove(pair: Pair): string | null {
    const own = isScalar(pair.key) ? (pair.key.commentBefore ?? null) : null;
    return pair === this.map.items[0] ? joinComments(this.map.commentBefore, own) : own;
  }
}

const keyOf = ({ key }: Pair): string => (isScalar(key) ? (key.source ?? String(key.value)) : '');

const joinComments = (...comments: readonly (string | null | undefined)[]): string | null =>
  comments.filter((comment) => comment != null && comment !== '').join('\n') || null;

/** A text as a block of lines if it has several and they come out of it as they went in, else as YAML sees fit. */
function toScalar(text: string): Scalar<string> {
  const scalar = new Scalar(text);
  if (!text.includes('\n')) return scalar;
  scalar.type = 'BLOCK_LITERAL';
  const written = new Document({ a: { b: scalar } }).toString({ lineWidth: 0 });
  if (parse(written)?.a?.b !== text) scalar.type = 'QUOTE_DOUBLE';
  return scalar;
}
