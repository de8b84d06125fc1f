import { comparePositions, type TextPosition } from '../core/text-position.ts';
import { buildGraph, newWorkflowResolver } from '../graph/build.ts';
import type { EdgeTarget } from '../graph/graph.ts';
import { prove } from '../graph/proof.ts';
import type { PathStep } from '../graph/reachability.ts';
import { analyzeStates } from '../graph/state-analysis.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import { findAllowComments } from './allow-comments.ts';
import type { LintLevel, ReportedDiagnostic, RuleContext } from './rule.ts';
import { RULES } from './rules/index.ts';
import { findUnresolvedNames } from './unresolved-names.ts';

/** Something that the author of a workflow should know. Line 0 stands for the file, or the workflow, as a whole. */
export interface LintFinding extends TextPosition {
  readonly rule: string;
  readonly level: LintLevel;
  readonly file: string;
  /** What is wrong, as a sentence without its full stop. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** A shortest example, if it takes more than one state to see it. */
  readonly path: readonly PathStep[];
}

/** What no author can mean: no run would begin. The names of a policy are looked up before that, those of a text are not. */
const UNSUPPRESSIBLE = ['frontmatter', 'not-text', 'missing-entry', 'ambiguous-entry'];
const UNSUPPRESSIBLE_IN_POLICIES = ['missing-state', 'ambiguous-state', 'path-in-name'];

/** Looks for mistakes in a workflow. The findings are in the order of files, lines and columns. */
export function lintSource(workflow: WorkflowSource): readonly LintFinding[] {
  const context = buildRuleContext(workflow);
  const reported = new Map<string, ReportedDiagnostic[]>();
  for (const { id: rule, level, check } of RULES) {
    for (const diagnostic of check({ ...context, reported })) {
      const earlier = reported.get(diagnostic.file);
      const reportedHere = { level, ...diagnostic, rule };
      if (earlier === undefined) reported.set(diagnostic.file, [reportedHere]);
      else earlier.push(reportedHere);
    }
  }
  const allowed = new Set(
    context.analyses.flatMap((analysis) => findAllowComments(analysis).map(({ rule }) => `${rule} ${analysis.file}`)),
  );
  const isUnsuppressible = ({ rule, file, at }: ReportedDiagnostic): boolean => {
    const analysis = context.analysisOf.get(file);
    const isAbove = analysis?.kind === 'prompt' && at.line < analysis.positionAt(0).line;
    return UNSUPPRESSIBLE.includes(rule) || (isAbove && UNSUPPRESSIBLE_IN_POLICIES.includes(rule));
  };
  const isAllowed = (diagnostic: ReportedDiagnostic): boolean =>
    allowed.has(`${diagnostic.rule} ${diagnostic.file}`) && !isUnsuppressible(diagnostic);
  const kept = [...reported.values()].flat().filter((diagnostic) => !isAllowed(diagnostic));
  const findings = kept.map(({ rule, level, file, at, message, hint, path = [] }) => {
    return { rule, level, file, ...at, message, hint, path };
  });
  return findings.sort((a, b) => compare(a.file, b.file) || comparePositions(a, b) || compare(a.rule, b.rule));
}

function buildRuleContext(workflow: WorkflowSource): Omit<RuleContext, 'reported'> {
  const analyses = analyzeStates(workflow);
  const names = newWorkflowResolver(workflow);
  const graph = buildGraph(workflow, analyses, names);
  const proof = prove(graph);
  const { flow, reach } = proof;
  const named = new Set(graph.edges.flatMap(({ to, return: back, next }) => [to, back, next].map(targetFile)));
  return {
    workflow,
    analyses,
    analysisOf: new Map(analyses.map((analysis) => [analysis.file, analysis])),
    names,
    unresolvedNames: new Map(analyses.map((analysis) => [analysis.file, findUnresolvedNames(analysis, names)])),
    graph,
    proof,
    rules: RULES.map(({ id }) => id),
    isIntendedState: ({ file, kind, source }) =>
      kind === 'script' || source.state.rules.policy.length > 0 || file === graph.entry || named.has(file),
    isReached: (state) => reach.has(flow.numberOf(state)),
  };
}

const targetFile = (target: EdgeTarget | null): string | null =>
  target?.kind === 'state' ? target.file : target?.kind === 'missing' ? target.meant : null;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
