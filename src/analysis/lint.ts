import { allowancesIn } from './allowances.ts';
import { badNamesIn } from './bad-names.ts';
import { buildGraph, resolverOf } from './build.ts';
import type { Target } from './graph.ts';
import { readPages } from './page.ts';
import { prove } from './proof.ts';
import type { Step } from './reach.ts';
import type { Level, Told, View } from './rule.ts';
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

/** What no author can mean: no run would begin. The names of a policy are looked up before that, those of a text are not. */
const UNDENIABLE = ['frontmatter', 'not-text', 'missing-entry', 'ambiguous-entry'];
const UNDENIABLE_IN_POLICIES = ['missing-state', 'ambiguous-state', 'path-in-name'];

/** Looks for mistakes in a workflow. The findings are in the order of files, lines and columns. */
export function lint(sheet: Sheet): readonly LintFinding[] {
  const view = viewOf(sheet);
  const told = new Map<string, Told[]>();
  for (const { id: rule, level, check } of RULES) {
    for (const fault of check({ ...view, told })) {
      const before = told.get(fault.file);
      const here = { level, ...fault, rule };
      if (before === undefined) told.set(fault.file, [here]);
      else before.push(here);
    }
  }
  const allowed = new Set(view.pages.flatMap((page) => allowancesIn(page).map(({ rule }) => `${rule} ${page.file}`)));
  const isUndeniable = ({ rule, file, at }: Told): boolean => {
    const page = view.pageOf.get(file);
    const isAbove = page?.kind === 'prompt' && at.line < page.place(0).line;
    return UNDENIABLE.includes(rule) || (isAbove && UNDENIABLE_IN_POLICIES.includes(rule));
  };
  const isAllowed = (fault: Told): boolean => allowed.has(`${fault.rule} ${fault.file}`) && !isUndeniable(fault);
  const meant = [...told.values()].flat().filter((fault) => !isAllowed(fault));
  const findings = meant.map(({ rule, level, file, at, message, hint, path = [] }) => {
    return { rule, level, file, ...at, message, hint, path };
  });
  return findings.sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.rule, b.rule),
  );
}

function viewOf(sheet: Sheet): Omit<View, 'told'> {
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
    rules: RULES.map(({ id }) => id),
    isMeant: ({ file, kind, source }) =>
      kind === 'script' || source.state.rules.policy.length > 0 || file === graph.entry || named.has(file),
    isReached: (state) => reach.has(flow.numberOf(state)),
  };
}

const fileNamed = (target: Target | null): string | null =>
  target?.kind === 'state' ? target.file : target?.kind === 'missing' ? target.meant : null;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
