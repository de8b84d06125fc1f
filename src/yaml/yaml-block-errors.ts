import { type Document, isMap, isNode, isScalar, isSeq, type Node, visit, type YAMLError } from 'yaml';
import { explainYamlError } from './parser-messages.ts';

/** What is wrong with a block of YAML, and where. */
interface YamlBlockError {
  readonly offset: number;
  readonly message: string;
}

/** What the parser complains about; where something is never closed, nothing that only follows from it. */
export function listYamlBlockErrors(document: Document.Parsed): readonly YamlBlockError[] {
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
