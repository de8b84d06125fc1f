import type { StateAnalysis } from '../graph/state-analysis.ts';
import type { StateResolver } from '../graph/state-resolver.ts';
import type { ReportedDiagnostic, RuleContext } from './rule.ts';

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
