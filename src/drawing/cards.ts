import type { LintFinding } from '../analysis/lint.ts';
import type { Sheet, SheetFile } from '../analysis/sheet.ts';
import { literalTag } from '../core/reminder.ts';
import type { State } from '../core/state.ts';
import { counted } from '../observers/words.ts';
import { visible } from './escape.ts';
import { figuresOf, isUntaken, labelOf, partedOf } from './figures.ts';
import { isState, type Picture, type StateShape } from './picture.ts';
import { titleOf } from './svg.ts';

/** Everything that the page tells about one state; plain data, which the page shows as text. */
export interface Card {
  readonly key: string;
  readonly name: string;
  readonly kind: StateShape['kind'];
  readonly description: string;
  /** What a run did here, in a line. */
  readonly done: string;
  /** Whether a run is drawn that was never here. */
  readonly untaken: boolean;
  /** How many agents are here now, and how many failed here. */
  readonly here: number;
  readonly failed: number;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** The tags that it permits; empty if it permits all. */
  readonly policy: readonly string[];
  readonly findings: readonly Told[];
  readonly text: string;
  /** The line of the file in which the text begins: what is before it is frontmatter. */
  readonly firstLine: number;
}

/** A finding as the page tells it. */
type Told = Pick<LintFinding, 'level' | 'rule' | 'line' | 'message' | 'hint'>;

/** An arrow as the page tells it. */
export interface Route {
  readonly from: string;
  readonly to: string;
  readonly kind: string;
  readonly label: string;
  /** What it leads to, where that is no state. */
  readonly mark: string;
}

/** More than anyone reads on such a page. */
const MOST_TEXT = 100_000;

/** A card for each state of a picture. */
export function cardsOf(picture: Picture, sheet: Sheet | null, findings: readonly LintFinding[]): readonly Card[] {
  const files = new Map(sheet?.files.map((file) => [file.file, file]));
  return picture.shapes.filter(isState).map((shape) => {
    const file = files.get(shape.state);
    return {
      key: shape.key,
      name: visible(shape.state),
      kind: shape.kind,
      description: visible(shape.kind === 'ambiguous' ? meaningsOf(shape) : (shape.description ?? '')),
      done: figuresOf(shape) ?? '',
      untaken: isUntaken(shape, picture.travelled),
      here: partedOf(shape.agents).here.length,
      failed: partedOf(shape.agents).failed.length,
      facts: [...presenceIn(shape), ...(file?.kind === 'state' ? settingsOf(file.state) : [])],
      policy: file?.kind === 'state' ? file.state.rules.policy.map((entry) => visible(literalTag(entry))) : [],
      findings: findings.filter((finding) => finding.file === shape.state).map(toldOf),
      text: textOf(file),
      firstLine: firstLineOf(file),
    };
  });
}

/** What was found that no card tells, because it concerns the workflow as a whole. */
export function findingsAbove({ shapes }: Picture, findings: readonly LintFinding[]): readonly Told[] {
  const states = new Set(shapes.filter(isState).map(({ state }) => state));
  return findings.filter(({ file }) => !states.has(file)).map(toldOf);
}

const toldOf = ({ level, rule, line, message, hint }: LintFinding): Told => {
  return { level, rule, line, message: visible(message), hint: visible(hint) };
};

/** The arrows of a picture. */
export function routesOf({ shapes, arrows }: Picture): readonly Route[] {
  const byKey = new Map(shapes.map((shape) => [shape.key, shape]));
  return arrows.map((arrow) => {
    const target = byKey.get(arrow.to);
    const mark = target === undefined || isState(target) ? '' : titleOf(target);
    return { from: arrow.from, to: arrow.to, kind: arrow.kind, label: labelOf(arrow), mark };
  });
}

const meaningsOf = ({ couldBe }: StateShape): string => `It could mean ${couldBe.join(' or ')}: write the extension.`;

const MOST_AGENTS = 50;

function presenceIn({ agents }: StateShape): Card['facts'] {
  const left = agents.length - MOST_AGENTS;
  return [
    ...agents
      .slice(0, MOST_AGENTS)
      .map(({ id, doing, why }) => [id, why === null ? doing : visible(`${doing}: ${why}`)] as const),
    ...(left > 0 ? [['…', `${counted(left, 'more agent')}`] as const] : []),
  ];
}

function settingsOf(state: State): Card['facts'] {
  const { timeoutMs, allowedTools, disallowedTools, rules } = state;
  const settings: readonly (readonly [string, string | null])[] = [
    ['model', state.model],
    ['effort', state.effort],
    ['timeout', timeoutMs === null ? null : timeoutMs === 0 ? 'none' : `${timeoutMs / 1000} s`],
    ['max_visits', rules.maxVisits === null ? null : String(rules.maxVisits)],
    ['permission_mode', state.permissionMode],
    ['allowed_tools', allowedTools?.join(', ') ?? null],
    ['disallowed_tools', disallowedTools?.join(', ') ?? null],
    ['append_system_prompt', state.appendSystemPrompt],
  ];
  return settings.flatMap(([label, value]) => (value === null ? [] : [[label, visible(value)] as const]));
}

function firstLineOf(file: SheetFile | undefined): number {
  if (file?.kind !== 'state') return 1;
  const { text, state } = file;
  return text.slice(0, text.length - state.text.length).split('\n').length;
}

function textOf(file: SheetFile | undefined): string {
  if (file === undefined || file.kind === 'other') return '';
  if (file.kind === 'unreadable') return `(${file.message})`;
  const text = visible(file.state.text);
  return text.length <= MOST_TEXT
    ? text
    : `${text.slice(0, MOST_TEXT)}\n… (${text.length - MOST_TEXT} more characters)`;
}
