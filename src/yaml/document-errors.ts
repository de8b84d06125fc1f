import { type Document, isNode, isScalar, visit, type YAMLError } from 'yaml';
import { explainYamlError } from './parser-messages.ts';

/** What is wrong with YAML, and where: an offset into the text. */
interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
}

/**
 * What keeps a text from being YAML. After a mistake the parser is lost and complains of much that only follows from it:
 * so the first is told, and before it keys that are given twice, which confuse nobody.
 */
export function explainDocumentErrors({ errors, contents }: Document.Parsed, text: string): readonly SyntaxProblem[] {
  const sorted = errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const first = sorted.findIndex(({ code }) => code !== 'DUPLICATE_KEY');
  const relevant = first < 0 ? sorted : sorted.slice(0, first + 1);
  return relevant.map((error) => {
    const at = error.pos[0];
    const isTooDeep = error.code === 'BLOCK_AS_IMPLICIT_KEY' && errors.some((other) => isMultiline(other, at));
    if (isTooDeep) return { offset: startOfContent(text, endOfLine(text, at)), message: TOO_DEEPLY_INDENTED };
    const offset = error.code === 'BAD_INDENT' ? startOfContent(text, at) : at;
    return findUnclosedQuote(error, contents) ?? { offset, message: explainError(error, text.slice(at)) };
  });
}

const TOO_DEEPLY_INDENTED =
  'this is indented further than the line before it, which has its value already: indent it as far as that line';

/** Where the text tells more than the parser does. */
function explainError(error: YAMLError, rest: string): string {
  const { code, message } = error;
  const [line = ''] = /^[^\n]*/.exec(rest) ?? [];
  if (code === 'DUPLICATE_KEY') return `the key \`${/^[^:]*/.exec(line)?.[0]}\` is given twice: keep one of them`;
  if (code === 'MULTILINE_IMPLICIT_KEY' || /^Implicit map keys need to be followed/.test(message)) {
    return `there is no colon behind this key: write \`${/^[^\s:]*/.exec(line)?.[0]}:\``;
  }
  const [, closer] = /^Flow (?:sequence|map) .*end with a ([\]}])/.exec(message) ?? [];
  if (closer !== undefined)
    return `the \`${closer}\` is missing that ends what began before this, or this line has to be indented`;
  return explainYamlError(error);
}

/** A quote that is never closed, where it opens: the parser says where it gives up, at the end of the file. */
function findUnclosedQuote({ message, pos }: YAMLError, contents: unknown): SyntaxProblem | undefined {
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
const startOfContent = (text: string, at: number): number =>
  at + (/^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*/.exec(text.slice(at))?.[0].length ?? 0);
