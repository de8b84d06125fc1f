import { type Document, isMap, isNode, isScalar, isSeq, type Node, visit, type YAMLError } from 'yaml';

/** A mistake in YAML, and its offset in the text. */
interface YamlSyntaxError {
  readonly offset: number;
  readonly message: string;
}

/**
 * Explains why a text is not YAML; undefined if it is. After a mistake the parser is lost and complains of much that only
 * follows from it, so the first mistake is the only one.
 */
export function explainSyntaxErrors(document: Document.Parsed, text: string): YamlSyntaxError | undefined {
  const { errors } = document;
  const [first] = errors.toSorted((a, b) => Number(isTooDeep(b)) - Number(isTooDeep(a)) || a.pos[0] - b.pos[0]);
  if (first === undefined) return undefined;
  const start = first.pos[0];
  const unclosed = isTooDeep(first) ? undefined : findUnclosed(document);
  if (unclosed !== undefined && unclosed.offset <= start) return unclosed;
  const isOverIndented = errors.some(({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === start);
  if (first.code === 'BLOCK_AS_IMPLICIT_KEY' && isOverIndented)
    return { offset: skipToContent(text, start + firstLineOf(text.slice(start)).length), message: OVER_INDENTED };
  const offset = first.code === 'BAD_INDENT' ? skipToContent(text, start) : start;
  return { offset, message: explainError(first, firstLineOf(text.slice(start))) };
}

const isTooDeep = ({ code }: YAMLError): boolean => code === 'RESOURCE_EXHAUSTION';

const OVER_INDENTED = 'this is indented further than the line before it, which already has a value: indent both alike';

/** Used instead of the parser's messages, which address programmers or do not say what to do. */
const MESSAGE_BY_CODE: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'a value that contains a colon and a space must be in quotes, or under `|`',
  MULTIPLE_DOCS: 'this is a second YAML document: keep all keys in one, without `...` or `---` between them',
  RESOURCE_EXHAUSTION: 'this is nested too deeply',
  TAB_AS_INDENT: 'use spaces here, not a tab: YAML does not allow tabs as indentation',
};

/** The same for errors that share their code with others. */
const MESSAGE_BY_PATTERN: readonly (readonly [RegExp, string])[] = [
  [
    /^Unexpected scalar at node end/,
    'this follows the end of a value: put quotes around the whole value, and double each quote inside it',
  ],
  [
    /^Unexpected flow-(?:map|seq)-start/,
    'brackets and braces have a meaning in YAML: put quotes around the whole value',
  ],
  [/^Unexpected flow-(?:map|seq)-end/, 'this bracket was never opened'],
  [
    /without - indicator/,
    'this belongs to no entry of the list: indent it as far as the first key of its entry, or begin it with `- `',
  ],
  [/^All mapping items must start/, 'this is indented differently from the keys beside it: indent them alike'],
];

function explainError({ code, message }: YAMLError, line: string): string {
  if (code === 'MULTILINE_IMPLICIT_KEY' || /^Implicit map keys need to be followed/.test(message))
    return `there is no colon after this key: write \`${/^[^\s:]*/.exec(line)?.[0]}:\``;
  const explanation = MESSAGE_BY_CODE[code] ?? MESSAGE_BY_PATTERN.find(([pattern]) => pattern.test(message))?.[1];
  return explanation ?? message.charAt(0).toLowerCase() + message.slice(1);
}

const UNCLOSED = /(?:end with a|Missing closing) ([\]}"'])/;
const OPENERS: Readonly<Record<string, string>> = { ']': '[', '}': '{' };

/** A bracket or a quote that is never closed, where it opens: the parser says where it gives up, maybe far below. */
function findUnclosed({ errors, contents }: Document.Parsed): YamlSyntaxError | undefined {
  const error = errors.find(({ message }) => UNCLOSED.test(message));
  const closer = UNCLOSED.exec(error?.message ?? '')?.[1];
  if (error === undefined || closer === undefined) return undefined;
  let offset: number | undefined;
  visit(contents, (_, node) => {
    if (isNode(node) && node.range?.[1] === error.pos[0] && closingCharacterOf(node) === closer) offset = node.range[0];
  });
  if (offset === undefined) return undefined;
  const opener = OPENERS[closer] ?? closer;
  const advice = opener === closer ? '' : '; if that is on a later line, indent the line';
  return { offset, message: `this \`${opener}\` is never closed: add its \`${closer}\`${advice}` };
}

function closingCharacterOf(node: Node): string | undefined {
  if (isSeq(node)) return ']';
  if (isMap(node)) return '}';
  return isScalar(node) && node.type === 'QUOTE_SINGLE' ? "'" : '"';
}

const firstLineOf = (text: string): string => /^[^\n]*/.exec(text)?.[0] ?? '';

/** The offset of the next content: behind blanks, empty lines and comments. */
const skipToContent = (text: string, offset: number): number =>
  offset + (/^(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0);
