import { type Document, isMap, isNode, isScalar, isSeq, type Node, visit, type YAMLError } from 'yaml';
import { adviceOn } from '../yaml-advice.ts';

/** What is wrong with a block of YAML, and where. */
interface Wrong {
  readonly offset: number;
  readonly message: string;
}

/** What the parser complains about; where something is never closed, nothing that only follows from it. */
export function wrongIn(document: Document.Parsed): readonly Wrong[] {
  const all = document.errors.filter(isFirstTab).map((error) => ({ offset: error.pos[0], message: adviceOn(error) }));
  const unclosed = firstUnclosed(document);
  return unclosed === undefined ? all : [...all.filter(({ offset }) => offset < unclosed.offset), unclosed];
}

/** Who indents one line with a tab does so with the others. */
const isFirstTab = ({ code }: YAMLError, index: number, all: readonly YAMLError[]): boolean =>
  code !== 'TAB_AS_INDENT' || all.findIndex((each) => each.code === code) === index;

/** A bracket or a quote that is never closed, where it opens: the parser says where it gives up, maybe far below. */
function firstUnclosed({ errors, contents }: Document.Parsed): Wrong | undefined {
  const error = errors.find(({ message }) => UNCLOSED.test(message));
  const closer = UNCLOSED.exec(error?.message ?? '')?.[1];
  if (error === undefined || closer === undefined || errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) return;
  let opened: number | undefined;
  visit(contents, (_, node) => {
    if (isNode(node) && node.range?.[1] === error.pos[0] && closerOf(node) === closer) opened = node.range[0];
  });
  if (opened === undefined) return;
  const opener = OPENERS[closer] ?? closer;
  const lines = opener === closer ? '' : ', and if that stands on a later line, indent the line';
  return { offset: opened, message: `this \`${opener}\` is never closed: write its \`${closer}\`${lines}` };
}

const UNCLOSED = /(?:end with a|Missing closing) ([\]}"'])/;
const OPENERS: Readonly<Record<string, string>> = { ']': '[', '}': '{' };

function closerOf(node: Node): string | undefined {
  if (isSeq(node)) return ']';
  if (isMap(node)) return '}';
  return isScalar(node) && node.type === 'QUOTE_SINGLE' ? "'" : '"';
}
