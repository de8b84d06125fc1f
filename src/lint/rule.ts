import type { TextPosition } from '../core/text-position.ts';
import type { Graph } from '../graph/graph.ts';
import type { Proof } from '../graph/proof.ts';
import type { PathStep } from '../graph/reachability.ts';
import type { StateAnalysis } from '../graph/state-analysis.ts';
import type { StateResolver } from '../graph/state-resolver.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import type { UnresolvedName } from './unresolved-names.ts';

/** How bad it is: it will fail, it is hardly meant, it is worth knowing. */
export type LintLevel = 'error' | 'warning' | 'info';

/** All that a rule can look at. */
export interface RuleContext {
  readonly workflow: WorkflowSource;
  readonly analyses: readonly StateAnalysis[];
  readonly analysisOf: ReadonlyMap<string, StateAnalysis>;
  readonly names: StateResolver;
  /** By file, the names that lead to no state. */
  readonly unresolvedNames: ReadonlyMap<string, readonly UnresolvedName[]>;
  readonly graph: Graph;
  readonly proof: Proof;
  /** The names of all rules. */
  readonly rules: readonly string[];
  /** By file, what the rules before this one have found: what only follows from it need not be told as well. */
  readonly reported: ReadonlyMap<string, readonly ReportedDiagnostic[]>;
  /** Whether a file is surely meant as a state: a stray note in the folder is only told to be unreachable. */
  isIntendedState(analysis: StateAnalysis): boolean;
  /** Whether an agent can get to this state. */
  isReached(state: string): boolean;
}

/** Something that a rule has found. */
export interface Diagnostic {
  readonly file: string;
  readonly at: TextPosition;
  /** A sentence without its full stop. */
  readonly message: string;
  /** What to do about it, as a sentence. */
  readonly hint: string;
  /** Where it is not the rule's own. */
  readonly level?: LintLevel;
  /** An example of how it happens. */
  readonly path?: readonly PathStep[];
}

/** What was found by which rule. */
export interface ReportedDiagnostic extends Diagnostic {
  readonly rule: string;
  readonly level: LintLevel;
}

/** One thing that lint looks for. */
export interface Rule {
  readonly id: string;
  readonly level: LintLevel;
  check(context: RuleContext): readonly Diagnostic[];
}

/** A rule that looks at one state after the other, as far as they are meant as states. */
export function rulePerState(
  id: string,
  level: LintLevel,
  check: (analysis: StateAnalysis, context: RuleContext) => readonly Diagnostic[],
): Rule {
  return {
    id,
    level,
    check: (context) =>
      context.analyses.flatMap((analysis) => (context.isIntendedState(analysis) ? check(analysis, context) : [])),
  };
}

/** Whether one of these rules has found something in a file already. */
export const isReported = ({ reported }: RuleContext, file: string, ...rules: readonly string[]): boolean =>
  (reported.get(file) ?? []).some(({ rule }) => rules.includes(rule));

/** A rule about names that lead to no state for this reason; each name once in a file. */
export function ruleForUnresolvedNames(
  id: string,
  kind: UnresolvedName['found']['kind'],
  hint: (name: string, context: RuleContext) => string,
): Rule {
  return rulePerState(id, 'error', (analysis, context) => {
    const seen = new Set<string>();
    return (context.unresolvedNames.get(analysis.file) ?? []).flatMap(
      ({ name, at, shown, level, found, hint: own }): Diagnostic[] => {
        if (found.kind !== kind || seen.has(name)) return [];
        seen.add(name);
        return [
          { file: analysis.file, at, message: `${shown}: ${found.message}`, hint: own ?? hint(name, context), level },
        ];
      },
    );
  });
}
