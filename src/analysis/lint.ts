import { badNamesIn } from './bad-names.ts';
import { buildGraph, resolverOf } from './build.ts';
import type { Target } from './graph.ts';
import { readPages } from './page.ts';
import { prove } from './proof.ts';
import type { Step } from './reach.ts';
import type { Level, View } from './rule.ts';
import { RULES } from './rules/index.ts';
import type { Place, Sheet } from './sheet.ts';

/** Something that the author of a workflow should know. Line 0 stands for the file, or the workflow, as a whole. */
export interface LintFinding extends Place {
  readonly rule: string;
  readonly level: Level;
  readonly file: string;
  /** What is wrong, as a sentence without its full stop. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** A shortest example, if it takes more than one state to see it. */
  readonly path: readonly Step[];
}

/** Looks for mistakes in a workflow. The findings are in the order of files, lines and columns. */
export function lint(sheet: Sheet): readonly LintFinding[] {
  const view = viewOf(sheet);
  const findings = RULES.flatMap(({ id: rule, level: usual, check }) =>
    check(view).map(({ file, at, message, hint, level = usual, path = [] }) => {
      return { rule, level, file, ...at, message, hint, path };
    }),
  );
  return findings.sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.rule, b.rule),
  );
}

function viewOf(sheet: Sheet): View {
  const pages = readPages(sheet);
  const names = resolverOf(sheet);
  const graph = buildGraph(sheet, pages, names);
  const proof = prove(graph);
  const { flow, reach } = proof;
  const named = new Set(graph.edges.flatMap(({ to, return: back, next }) => [to, back, next].map(fileNamed)));
  return {
    sheet,
    pages,
    pageOf: new Map(pages.map((page) => [page.file, page])),
    names,
    badNames: new Map(pages.map((page) => [page.file, badNamesIn(page, names)])),
    graph,
    proof,
    isMeant: ({ file, kind, source }) =>
      kind === 'script' || source.state.rules.policy.length > 0 || file === graph.entry || named.has(file),
    isReached: (state) => reach.has(flow.numberOf(state)),
  };
}

const fileNamed = (target: Target | null): string | null =>
  target?.kind === 'state' ? target.file : target?.kind === 'missing' ? target.meant : null;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
