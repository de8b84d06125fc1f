import { buildGraph } from '../graph/build.ts';
import { filesOf, targetsOf } from '../graph/graph.ts';
import { prove } from '../graph/proof.ts';
import type { PathStep } from '../graph/reachability.ts';
import { analyzeStates } from '../graph/state-analysis.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import { comparePositions, type TextPosition } from '../language/text/text.ts';
import { findAllowComments } from './allow-comments.ts';
import type { LintLevel, Rule, RuleContext, RuleFinding } from './rule.ts';
import { RULES, type RuleId } from './rules/index.ts';

/** Something that the author of a workflow should know. Line 0 stands for the file, or the workflow, as a whole. */
export interface LintFinding extends TextPosition {
  readonly rule: RuleId | 'unreadable-workflow' | 'cannot-start';
  readonly level: LintLevel;
  readonly file: string;
  /** A sentence without its full stop. */
  readonly message: string;
  /** A sentence that says what to do about it. */
  readonly hint: string;
  /** A shortest example, if it takes more than one state to see it. */
  readonly path: readonly PathStep[];
}

/** Looks for mistakes in a workflow. The findings are in the order of files, lines and columns, whatever that of the rules. */
export function lintSource(workflow: WorkflowSource, rules: readonly Rule<RuleId>[] = RULES): readonly LintFinding[] {
  const context = buildRuleContext(workflow, rules);
  const found = rules.flatMap(({ id, level, check }) =>
    check(context).map((finding): RawFinding => ({ level, ...finding, rule: id })),
  );
  const kept = dropAllowed(dropSuperseded(found, rules), rules, context);
  const findings = kept.map(({ rule, level, file, at, message, hint, path = [] }): LintFinding => {
    return { rule, level, file, ...at, message, hint, path };
  });
  const sorted = findings.sort((a, b) => compare(a.file, b.file) || comparePositions(a, b) || compare(a.rule, b.rule));
  return mergeFindingsAtOnePlace(sorted);
}

/** Makes one finding of those that a rule has at one position: a reader sees all of it there. */
function mergeFindingsAtOnePlace(sorted: readonly LintFinding[]): readonly LintFinding[] {
  const places = new Map<string, LintFinding[]>();
  for (const finding of sorted) {
    const { file, line, column, rule, path } = finding;
    // An example of its own makes it a finding of its own.
    const place = line === 0 || path.length > 0 ? `${places.size}` : `${rule} ${line}:${column} ${file}`;
    places.set(place, [...(places.get(place) ?? []), finding]);
  }
  return [...places.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const level = others.some((other) => other.level === 'error') ? 'error' : first.level;
    return [{ ...first, level, message: joinMessages([first, ...others].map(({ message }) => message)) }];
  });
}

const MAX_JOINED_MESSAGES = 3;

/** Joins sentences, without repeating the beginning that they share. */
function joinMessages(messages: readonly string[]): string {
  const [first = '', ...others] = new Set(messages);
  const head = /^.*?: /.exec(first)?.[0] ?? '';
  const tails = others.map((message) => (message.startsWith(head) ? message.slice(head.length) : message));
  const left = tails.length + 1 - MAX_JOINED_MESSAGES;
  const shown = [first, ...tails.slice(0, MAX_JOINED_MESSAGES - 1)];
  return [...shown, ...(left > 0 ? [`and ${left} more like this`] : [])].join('; ');
}

type RawFinding = RuleFinding & { readonly rule: RuleId; readonly level: LintLevel };

/** Drops what only follows from another mistake: see `supersedes` of a rule and `causes` of a finding. */
function dropSuperseded(found: readonly RawFinding[], rules: readonly Rule<RuleId>[]): readonly RawFinding[] {
  const supersededBy = new Map(rules.map(({ id, supersedes = [] }) => [id, supersedes]));
  const explained = new Map<RuleId, Set<string>>();
  for (const { rule, file } of found) {
    for (const superseded of supersededBy.get(rule) ?? []) {
      explained.set(superseded, (explained.get(superseded) ?? new Set()).add(file));
    }
  }
  return found.filter(({ rule, file, causes = [file] }) => {
    const files = explained.get(rule);
    return files === undefined || !causes.some((cause) => files.has(cause));
  });
}

/** Drops what a comment in its file allows. */
function dropAllowed(
  found: readonly RawFinding[],
  rules: readonly Rule<RuleId>[],
  { analyses, analysisOf }: RuleContext,
): readonly RawFinding[] {
  const allowed = new Set(
    analyses.flatMap((analysis) => findAllowComments(analysis).map(({ rule }) => `${rule} ${analysis.file}`)),
  );
  const blocksStart = new Map(rules.map((rule) => [rule.id, rule.blocksStart]));
  const isUnsuppressible = ({ rule, file, at }: RawFinding): boolean => {
    if (blocksStart.get(rule) !== 'in-frontmatter') return blocksStart.get(rule) === 'always';
    const analysis = analysisOf.get(file);
    return analysis?.kind === 'prompt' && at.line < analysis.positionAt(0).line;
  };
  return found.filter((finding) => !allowed.has(`${finding.rule} ${finding.file}`) || isUnsuppressible(finding));
}

function buildRuleContext(workflow: WorkflowSource, rules: readonly Rule[]): RuleContext {
  const analyses = analyzeStates(workflow);
  const graph = buildGraph(workflow, analyses);
  const proof = prove(graph);
  const named = new Set([
    ...graph.edges.flatMap((edge) => targetsOf(edge).flatMap(filesOf)),
    ...graph.evaluatorUses.map(({ file }) => file),
  ]);
  const isEntered = (state: string): boolean => proof.reach.has(proof.flow.numberOf(state));
  return {
    workflow,
    analyses,
    analysisOf: new Map(analyses.map((analysis) => [analysis.file, analysis])),
    graph,
    proof,
    ruleIds: rules.map(({ id }) => id),
    isIntendedState: ({ file, kind, source }) =>
      kind === 'script' || source.state.rules.policy.length > 0 || file === graph.entry || named.has(file),
    isReached: (state) =>
      graph.mereEvaluators.has(state)
        ? graph.evaluatorUses.some((use) => use.file === state && isEntered(use.state))
        : isEntered(state),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
