import { type Document, isNode, isScalar, visit, type YAMLError } from 'yaml';

/** What is wrong with YAML, and where: an offset into the text. */
interface Wrong {
  readonly offset: number;
  readonly message: string;
}

/**
 * What keeps a text from being YAML. After a mistake the parser is lost and complains of much that only follows from it:
 * so the first is told, and before it keys that are given twice, which confuse nobody.
 */
export function wrongIn({ errors, contents }: Document.Parsed, text: string): readonly Wrong[] {
  const all = errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const first = all.findIndex(({ code }) => code !== 'DUPLICATE_KEY');
  const told = first < 0 ? all : all.slice(0, first + 1);
  return told.map((error) => {
    const at = error.pos[0];
    const isTooDeep = error.code === 'BLOCK_AS_IMPLICIT_KEY' && errors.some((other) => isMultiline(other, at));
    if (isTooDeep) return { offset: startOfWords(text, endOfLine(text, at)), message: TOO_DEEP };
    const offset = error.code === 'BAD_INDENT' ? startOfWords(text, at) : at;
    return unclosedQuote(error, contents) ?? { offset, message: adviceFor(error, text.slice(at)) };
  });
}

const TOO_DEEP =
  'this is indented further than the line before it, which has its value already: indent it as far as that line';

/** Said instead of the parser's words, which do not say what to do. */
const ADVICE: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'a value that contains a colon and a blank must stand in quotes, or under `|`',
  MULTIPLE_DOCS: 'this is a second YAML document: keep all in one, without `---` between them',
  TAB_AS_INDENT: 'use blanks here, not a tab: YAML does not take tabs for indentation',
};

/** The same for errors that share their code with others. */
const BY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Unexpected scalar at node end/, 'this stands behind the end of a value: put quotes around the whole value'],
  [/^Unexpected flow-(?:map|seq)-end/, 'nothing before this bracket opens it'],
  [
    /without - indicator/,
    'this belongs to no entry of the list: indent it as far as the first key of its entry, or begin it with `- `',
  ],
  [/^All mapping items must start/, 'this is indented otherwise than what it stands beside: indent both alike'],
];

function adviceFor({ code, message }: YAMLError, rest: string): string {
  const [line = ''] = /^[^\n]*/.exec(rest) ?? [];
  if (code === 'DUPLICATE_KEY') return `the key \`${/^[^:]*/.exec(line)?.[0]}\` is given twice: keep one of them`;
  if (code === 'MULTILINE_IMPLICIT_KEY' || /^Implicit map keys need to be followed/.test(message)) {
    return `there is no colon behind this key: write \`${/^[^\s:]*/.exec(line)?.[0]}:\``;
  }
  const [, end] = /^Flow (?:sequence|map) .*end with a ([\]}])/.exec(message) ?? [];
  if (end !== undefined)
    return `the \`${end}\` is missing that ends what began before this, or this line has to be indented`;
  const own = ADVICE[code] ?? BY_WORDS.find(([words]) => words.test(message))?.[1];
  return own ?? message.charAt(0).toLowerCase() + message.slice(1);
}

/** A quote that is never closed, where it opens: the parser says where it gives up, at the end of the file. */
function unclosedQuote({ message, pos }: YAMLError, contents: unknown): Wrong | undefined {
  const [, quote] = /^Missing closing (["'])/.exec(message) ?? [];
  let opened: number | undefined;
  if (quote === undefined || !isNode(contents)) return;
  visit(contents, (_, node) => {
    if (isScalar(node) && node.type?.startsWith('QUOTE') && node.range?.[1] === pos[0]) opened = node.range[0];
  });
  return opened === undefined
    ? undefined
    : { offset: opened, message: `this \`${quote}\` is never closed: write its \`${quote}\`` };
}

const isMultiline = ({ code, pos }: YAMLError, at: number): boolean =>
  code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === at;

const endOfLine = (text: string, at: number): number => at + (/^[^\n]*/.exec(text.slice(at))?.[0].length ?? 0);

/** Where something is said again: behind blanks, empty lines and comments. */
const startOfWords = (text: string, at: number): number =>
  at + (/^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*/.exec(text.slice(at))?.[0].length ?? 0);
