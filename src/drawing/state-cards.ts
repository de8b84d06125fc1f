import type { WorkflowSource, WorkflowSourceFile } from '../graph/workflow-source.ts';
import { formatPolicyTag } from '../language/reminder.ts';
import type { State } from '../language/state.ts';
import type { LintFinding } from '../lint/lint.ts';
import { formatCount } from '../render/format.ts';
import { type Diagram, isStateShape, type StateShape } from './diagram.ts';
import { formatArrowLabel, formatVisitSummary, isUnvisited, replaceInvisible, splitByFailure } from './labels.ts';
import { type CardTurns, createCardTurns, type TurnsByState } from './state-turns.ts';
import { formatShapeTitle } from './svg.ts';

/** Everything that the page shows about one state: plain data, which web/ shows as text. */
export interface StateCard {
  readonly key: string;
  readonly name: string;
  readonly kind: StateShape['kind'];
  readonly description: string;
  /** One line about the run in this state; empty if it never entered it. */
  readonly done: string;
  readonly untaken: boolean;
  /** How many agents are here now, and how many failed here. */
  readonly here: number;
  readonly failed: number;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** The latest turns here of the run that is drawn, the latest first; null if none is drawn, or it took none here. */
  readonly turns: CardTurns | null;
  /** The tags that it permits; empty if it permits all. */
  readonly policy: readonly string[];
  readonly findings: readonly CardFinding[];
  readonly text: string;
  /** The line of the file in which the text begins, after the frontmatter. */
  readonly firstLine: number;
}

/** A finding as the page shows it. */
type CardFinding = Pick<LintFinding, 'level' | 'rule' | 'line' | 'message' | 'hint'>;

/** An arrow as the page shows it. */
export interface PageArrow {
  readonly from: string;
  readonly to: string;
  readonly kind: string;
  readonly label: string;
  /** Its target if that is not a state, else empty. */
  readonly mark: string;
}

/** More than anyone reads on a page. */
const MAX_TEXT_LENGTH = 100_000;

/** Builds a card for each state of a diagram. */
export function buildStateCards(
  diagram: Diagram,
  source: WorkflowSource | null,
  findings: readonly LintFinding[],
  turns: TurnsByState = new Map(),
): readonly StateCard[] {
  const files = new Map(source?.files.map((file) => [file.file, file]));
  return diagram.shapes.filter(isStateShape).map((shape) => {
    const file = files.get(shape.state);
    return {
      key: shape.key,
      name: replaceInvisible(shape.state),
      kind: shape.kind,
      description: replaceInvisible(shape.kind === 'ambiguous' ? explainAmbiguity(shape) : (shape.description ?? '')),
      done: formatVisitSummary(shape) ?? '',
      untaken: isUnvisited(shape, diagram.hasRun),
      here: splitByFailure(shape.agents).here.length,
      failed: splitByFailure(shape.agents).failed.length,
      facts: [...listAgentFacts(shape), ...(file?.kind === 'state' ? listSettingFacts(file.state) : [])],
      turns: createCardTurns(turns.get(shape.state)),
      policy:
        file?.kind === 'state' ? file.state.rules.policy.map((entry) => replaceInvisible(formatPolicyTag(entry))) : [],
      findings: findings.filter((finding) => finding.file === shape.state).map(toCardFinding),
      text: readShownText(file),
      firstLine: findFirstTextLine(file),
    };
  });
}

/** The findings that are on no card, because they are about the workflow as a whole. */
export function listWorkflowFindings({ shapes }: Diagram, findings: readonly LintFinding[]): readonly CardFinding[] {
  const states = new Set(shapes.filter(isStateShape).map(({ state }) => state));
  return findings.filter(({ file }) => !states.has(file)).map(toCardFinding);
}

const toCardFinding = ({ level, rule, line, message, hint }: LintFinding): CardFinding => {
  return { level, rule, line, message: replaceInvisible(message), hint: replaceInvisible(hint) };
};

/** The arrows of a diagram, in the order of their keys in the picture. */
export function listPageArrows({ shapes, arrows }: Diagram): readonly PageArrow[] {
  const byKey = new Map(shapes.map((shape) => [shape.key, shape]));
  return arrows.map((arrow) => {
    const target = byKey.get(arrow.to);
    const mark = target === undefined || isStateShape(target) ? '' : formatShapeTitle(target);
    return { from: arrow.from, to: arrow.to, kind: arrow.kind, label: formatArrowLabel(arrow), mark };
  });
}

const explainAmbiguity = ({ couldBe }: StateShape): string =>
  `It could mean ${couldBe.join(' or ')}: write the extension.`;

const MAX_LISTED_AGENTS = 50;

function listAgentFacts({ agents }: StateShape): StateCard['facts'] {
  const remaining = agents.length - MAX_LISTED_AGENTS;
  return [
    ...agents.slice(0, MAX_LISTED_AGENTS).map(({ label, doing, why, worktree }) => {
      const where = worktree === null ? '' : `, in the worktree ${worktree.path} on the branch ${worktree.branch}`;
      return [label, replaceInvisible(`${doing}${why === null ? '' : `: ${why}`}${where}`)] as const;
    }),
    ...(remaining > 0 ? [['…', `${formatCount(remaining, 'more agent')}`] as const] : []),
  ];
}

function listSettingFacts(state: State): StateCard['facts'] {
  const { timeoutMs, allowedTools, disallowedTools, rules } = state;
  const { guards } = rules;
  const settings: readonly (readonly [string, string | null])[] = [
    ['model', state.model],
    ['effort', state.effort],
    ['timeout', timeoutMs === null ? null : timeoutMs === 0 ? 'none' : `${timeoutMs / 1000} s`],
    [
      'max_visits',
      rules.maxVisits === null ? null : `${rules.maxVisits}${guards?.maxVisitsPer === 'call' ? ' per call' : ''}`,
    ],
    ['retry', guards?.retry == null ? null : String(guards.retry)],
    ['stuck_after', guards?.stuck == null ? null : String(guards.stuck.after)],
    ['permission_mode', state.permissionMode],
    ['allowed_tools', allowedTools?.join(', ') ?? null],
    ['disallowed_tools', disallowedTools?.join(', ') ?? null],
    ['append_system_prompt', state.appendSystemPrompt],
  ];
  return settings.flatMap(([label, value]) => (value === null ? [] : [[label, replaceInvisible(value)] as const]));
}

function findFirstTextLine(file: WorkflowSourceFile | undefined): number {
  if (file?.kind !== 'state') return 1;
  const { text, state } = file;
  return text.slice(0, text.length - state.text.length).split('\n').length;
}

function readShownText(file: WorkflowSourceFile | undefined): string {
  if (file === undefined || file.kind === 'other') return '';
  if (file.kind === 'unreadable') return `(${file.message})`;
  const text = replaceInvisible(file.state.text);
  return text.length <= MAX_TEXT_LENGTH
    ? text
    : `${text.slice(0, MAX_TEXT_LENGTH)}\n… (${text.length - MAX_TEXT_LENGTH} more characters)`;
}
