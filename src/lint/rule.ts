import type { Graph } from '../graph/graph.ts';
import type { Proof } from '../graph/proof.ts';
import type { PathStep } from '../graph/reachability.ts';
import type { PlacedTag, StateAnalysis } from '../graph/state-analysis.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import type { TextPosition } from '../language/text/text.ts';
import { quoteTag } from './messages.ts';

/** The level of a finding: it will fail, it is probably not what was meant, it is worth knowing. */
export type LintLevel = 'error' | 'warning' | 'info';

/** All that a rule can look at. */
export interface RuleContext {
  readonly workflow: WorkflowSource;
  readonly analyses: readonly StateAnalysis[];
  readonly analysisOf: ReadonlyMap<string, StateAnalysis>;
  readonly graph: Graph;
  readonly proof: Proof;
  readonly ruleIds: readonly string[];
  /** True if a file is surely meant as a state, and not a stray note in the folder. */
  isIntendedState(analysis: StateAnalysis): boolean;
  /** True if an agent can get to this state, or has its answers evaluated by it. */
  isReached(state: string): boolean;
}

/** A mistake as a rule reports it. */
export interface RuleFinding {
  readonly file: string;
  readonly at: TextPosition;
  /** A sentence without its full stop. */
  readonly message: string;
  /** A sentence that says what to do about it. */
  readonly hint: string;
  /** Its level, where that is not the rule's own. */
  readonly level?: LintLevel;
  /** An example of how it happens. */
  readonly path?: readonly PathStep[];
  /** The files in which another mistake may be the cause of this one; its own file, if left out. */
  readonly causes?: readonly string[];
}

/** One thing that lint looks for. */
export interface Rule<Id extends string = string, Superseded extends string = Id> {
  readonly id: Id;
  readonly level: LintLevel;
  /**
   * Rules whose findings may only repeat what this rule has found: a finding of theirs is dropped if this rule has one in a
   * file that is among its `causes`.
   */
  readonly supersedes?: readonly Superseded[];
  /** Its findings keep a run from starting, all of them or those in frontmatter: no comment can allow them. */
  readonly blocksStart?: 'always' | 'in-frontmatter';
  readonly check: (context: RuleContext) => readonly RuleFinding[];
}

type RuleHead<Id extends string, Superseded extends string> = Omit<Rule<Id, Superseded>, 'check'>;

/** Makes a rule that looks at a workflow as a whole. */
export const defineRule = <const Id extends string, const Superseded extends string = never>(
  head: RuleHead<Id, Superseded>,
  check: Rule['check'],
): Rule<Id, Superseded> => ({ ...head, check });

/** A mistake in the file of a state. */
type StateFinding = Omit<RuleFinding, 'file'>;

/** Makes a rule that looks at one state after the other, as far as they are meant as states. */
export const defineStateRule = <const Id extends string, const Superseded extends string = never>(
  head: RuleHead<Id, Superseded>,
  check: (analysis: StateAnalysis, context: RuleContext) => readonly StateFinding[],
): Rule<Id, Superseded> =>
  defineRule(head, (context) =>
    context.analyses.flatMap((analysis) => {
      const found = context.isIntendedState(analysis) ? check(analysis, context) : [];
      return found.length === 0 ? [] : found.map((finding) => ({ ...finding, file: analysis.file }));
    }),
  );

/** A mistake in a tag; its message continues behind the tag and a colon. */
type TagFinding = Omit<StateFinding, 'at' | 'level'>;

/** Makes a rule that looks at one tag after the other, that the agent is meant to write. */
export const defineTagRule = <const Id extends string, const Superseded extends string = never>(
  head: Omit<Rule<Id, Superseded>, 'check'>,
  check: (placed: PlacedTag, analysis: StateAnalysis, context: RuleContext) => readonly TagFinding[],
): Rule<Id, Superseded> =>
  defineStateRule(head, (analysis, context) => {
    const level = head.level === 'error' ? levelForTag(analysis) : head.level;
    return analysis.tags.flatMap((placed) => {
      const { name, tag, at, sure } = placed;
      const found = sure ? check(placed, analysis, context) : [];
      return found.map(({ message, ...rest }) => ({
        ...rest,
        at,
        message: `${quoteTag(name, tag)}: ${message}`,
        level,
      }));
    });
  });

/** The level of a mistake in a tag: in a prompt, a policy says what really happens, so that the tag only misleads. */
export const levelForTag = ({ kind, source }: StateAnalysis): LintLevel =>
  kind === 'prompt' && source.state.rules.policy.length > 0 ? 'warning' : 'error';
