import type { EndlessCycle } from '../graph/endless-cycles.ts';
import type { StateAnalysis } from '../graph/state-analysis.ts';
import type { StateResolver } from '../graph/state-resolver.ts';
import { isReported, type ReportedDiagnostic, type RuleContext } from './rule.ts';

/** Mistakes in a tag or an entry, which stand on the lines that name its states. */
const RULES_FOR_A_LINE = [
  'key-without-effect',
  'frontmatter',
  'unknown-tag',
  'unclosed-tag',
  'missing-attribute',
  'misplaced-attribute',
  'forbidden-tag',
];
/** Mistakes that may keep any tag of a file from being heard. */
const RULES_FOR_A_FILE = ['no-way-out', 'silent-path', 'several-tags', 'wasted-tag', 'unquoted-tag', 'bash-syntax'];

/** The states of which a mistake that is told already speaks: that nothing leads there is no news. */
export function findSuppressedStates({ analyses, reported, names }: RuleContext): ReadonlySet<string> {
  const files = analyses.flatMap((analysis) => {
    const diagnostics = reported.get(analysis.file) ?? [];
    const inPlace = diagnostics.filter(({ rule }) => RULES_FOR_A_LINE.includes(rule));
    const affectsFile = diagnostics.some(({ rule }) => RULES_FOR_A_FILE.includes(rule));
    const texts = [...linesWithDiagnostics(inPlace, analysis), ...(affectsFile ? [analysis.source.state.text] : [])];
    return texts.flatMap((text) => statesIn(text, names));
  });
  return new Set(files);
}

function linesWithDiagnostics(
  diagnostics: readonly ReportedDiagnostic[],
  { source }: StateAnalysis,
): readonly string[] {
  if (diagnostics.length === 0) return [];
  const lines = source.text.split('\n');
  return diagnostics.flatMap(({ at }) => {
    const first = lines[at.line - 1];
    if (first === undefined) return [];
    // A key of the frontmatter has what is indented below it.
    const length = /^[\w-]+\s*:/.test(first) ? lines.slice(at.line).findIndex((line) => /^[^\s-]/.test(line)) : 0;
    return lines.slice(at.line - 1, at.line + Math.max(0, length));
  });
}

const NAME = /(?<=([>"'=:]\s*)?)(?<![\p{L}\p{N}_.-])[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*/gu;

/** The states that a text names by their files, or as tags and policies do. */
function statesIn(text: string, names: StateResolver): readonly string[] {
  return [...text.matchAll(NAME)].flatMap(([word, inTag]) =>
    names.candidatesFor(word).filter((file) => file === word || inTag !== undefined),
  );
}

/** Mistakes by which a way out of a ring may have been lost. */
const EXIT_HIDING_RULES = ['unknown-tag', 'unclosed-tag', 'missing-state', 'forbidden-tag', 'silent-path'];

/** Whether a ring has a way out as soon as a mistake is mended that is told already. */
export function isCycleSuppressed({ states }: EndlessCycle, context: RuleContext): boolean {
  return states.some((state) => isReported(context, context.proof.flow.names[state] ?? '', ...EXIT_HIDING_RULES));
}

/** Mistakes by which a way on is missing that only its author knows. */
const PATH_BREAKING_RULES = ['missing-attribute', 'endless-loop', 'endless-recursion', 'ends-only-by-limit'];

/** How many ways lead nobody knows where, because of mistakes that are told already. */
export function countBrokenPaths(context: RuleContext): number {
  const reached = context.analyses.filter(({ file }) => context.isReached(file));
  const names = reached.flatMap(({ file }) =>
    (context.unresolvedNames.get(file) ?? []).flatMap(({ name, found }) =>
      found.kind === 'unknown' && context.names.suggest(name) === null ? name : [],
    ),
  );
  const others = reached.filter(({ file }) => isReported(context, file, ...PATH_BREAKING_RULES));
  return new Set(names).size + others.length;
}
