import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EdgeTerm } from '../graph/graph.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import { renderTemplate } from '../language/text/template.ts';
import type { LintFinding } from '../lint/lint.ts';
import { resolvePackageFile } from '../package-files.ts';
import { formatCount } from '../render/format.ts';
import { type ArrowKind, type Diagram, type DiagramShape, isStateShape, type StateShape } from './diagram.ts';
import { toSvg } from './draw-svg.ts';
import { escapeMarkup, escapeScriptData, isUnvisited, splitByFailure } from './labels.ts';
import { buildStateCards, listPageArrows, listWorkflowFindings } from './state-cards.ts';
import type { TurnsByState } from './state-turns.ts';

/** The contents of a page besides the picture. */
interface GraphPageContents {
  /** The files of the workflow; null if they are no longer there. */
  readonly source: WorkflowSource | null;
  readonly findings: readonly LintFinding[];
  /** The status of the run that is drawn, in a line; null if none is. */
  readonly run: string | null;
  /** The turns of that run, by state. */
  readonly turns?: TurnsByState;
}

/**
 * Renders a diagram as a self-contained page. Its content security policy forbids every request, and every script but its
 * own.
 */
export async function toHtmlPage(diagram: Diagram, contents: GraphPageContents): Promise<string> {
  const { source, findings, run, turns = new Map() } = contents;
  const svg = await toSvg(diagram);
  const data = {
    cards: buildStateCards(diagram, source, findings, turns),
    routes: listPageArrows(diagram),
    findings: listWorkflowFindings(diagram, findings),
  };
  const script = SCRIPTS.map(inlineModule).join('\n');
  // Everything that came from a workflow has been escaped.
  const parts = {
    policy: `${FORBID_EVERYTHING}; img-src data:; style-src 'unsafe-inline'; script-src '${hashScript(script)}'`,
    name: escapeMarkup(diagram.name),
    summary: escapeMarkup(run ?? formatSummary(diagram, findings)),
    style: webFile('page.css') + webFile('picture.css'),
    svg: svg.replace(/ width="[^"]*" height="[^"]*"/, ''),
    legend: renderLegend(diagram),
    data: escapeScriptData(data),
    script,
  };
  return renderTemplate(webFile('page.html'), parts).text;
}

/** The numbers of states, transitions and problems. */
function formatSummary({ shapes, transitions }: Diagram, findings: readonly LintFinding[]): string {
  const count = (...kinds: readonly DiagramShape['kind'][]): number =>
    shapes.filter(({ kind }) => kinds.includes(kind)).length;
  const [missing, ambiguous] = [count('missing'), count('ambiguous')];
  const problemCounts = (['error', 'warning'] as const).flatMap((level) => {
    const total = findings.filter((finding) => finding.level === level).length;
    return total > 0 ? [formatCount(total, level)] : [];
  });
  return [
    formatCount(count('prompt', 'script'), 'state'),
    formatCount(transitions, 'transition'),
    ...(missing > 0 ? [formatCount(missing, 'missing state')] : []),
    ...(ambiguous > 0 ? [formatCount(ambiguous, 'ambiguous name')] : []),
    ...problemCounts,
  ].join(', ');
}

const FORBID_EVERYTHING = "default-src 'none'; base-uri 'none'; form-action 'none'";

const SCRIPTS = ['view.js', 'make.js', 'findings.js', 'turns.js', 'panel.js', 'page.js'] as const;

const webFile = (name: string): string => readFileSync(resolvePackageFile(`web/${name}`), 'utf8');

/** A module without its imports and exports: in the page all scripts are one. */
const inlineModule = (name: string): string =>
  webFile(name)
    .replace(/^import .*;\n/gm, '')
    .replace(/^export /gm, '');

const hashScript = (script: string): string => `sha256-${createHash('sha256').update(script).digest('base64')}`;

const SHAPE_DESCRIPTIONS: Readonly<Record<Exclude<DiagramShape['kind'], 'begin'>, string>> = {
  prompt: 'prompt for Claude Code',
  script: 'script',
  missing: 'state that does not exist',
  ambiguous: 'name that could mean several states',
  gone: 'state that exists no longer',
  end: 'the agent ends with its result',
  caller: 'the result goes back to the caller: one of many, or unknown',
  any: 'any state: chosen at run time',
  targetless: 'no target given',
};

const ARROW_DESCRIPTIONS: Readonly<Record<Exclude<ArrowKind, 'begin'>, string>> = {
  goto: 'goto: the conversation continues',
  reset: 'reset: with a new conversation',
  compact: 'compact: with a summary of the conversation',
  call: 'call: a subtask that knows the conversation',
  function: 'function: a subtask that knows nothing of it',
  return: 'return: where the caller continues',
  fork: 'fork: a worker starts',
  next: 'next: where its parent continues',
  join: 'join: where it continues once its workers are done',
  ask: 'ask: where the answer of a person goes',
  result: 'result',
  back: 'result of a subtask: to where its caller continues',
  guard: 'on …: the state failed, reached a limit or makes no progress',
  evaluator: 'evaluator: judges what the state answered, before its transition is made',
  mentioned: 'only named in the prompt, or shown in code',
};

/** The labels on the arrows of forks and joins. */
const TERM_DESCRIPTIONS: Readonly<Record<EdgeTerm['kind'], string>> = {
  worktree: 'worktree: the worker gets a git worktree and a branch of its own',
  group: 'group …: the join waits only for workers of this group',
  wait: 'wait …: the join waits for so many of its workers only',
  cancel: 'cancel: the join ends the workers that it did not wait for',
};

const COMPUTED_DESCRIPTION = 'dotted: one of the states that fit a name known in part';
const OPEN_DESCRIPTION = 'dashed: may make transitions that are not drawn';

/** The marks that a run leaves on states. */
const RUN_MARK_DESCRIPTIONS: Readonly<Record<string, string>> = {
  here: 'an agent is here (▶)',
  failed: 'an agent failed here (✗)',
  untaken: 'no agent was here',
};

/** Renders the legend: what the shapes and arrows of this diagram stand for. */
export function renderLegend({ shapes, arrows, hasRun }: Diagram): string {
  const hasComputed = arrows.some((arrow) => arrow.computed);
  const hasOpen = shapes.some((shape) => isStateShape(shape) && shape.open);
  const kinds = (all: readonly { readonly kind: string }[]): ReadonlySet<string> =>
    new Set(all.map(({ kind }) => kind));
  const rows = (
    descriptions: Readonly<Record<string, string>>,
    present: ReadonlySet<string>,
    sample: (kind: string) => string,
  ) =>
    Object.entries(descriptions)
      .filter(([kind]) => present.has(kind))
      .map(([kind, text]) => `<li>${sample(kind)}<span>${text}</span></li>`);
  return [
    ...rows(SHAPE_DESCRIPTIONS, kinds(shapes), (kind) => renderSample(`node ${kind}`, SHAPE_SAMPLES[kind] ?? BOX)),
    ...(hasOpen ? [`<li>${renderSample('node prompt open', ROUNDED_BOX)}<span>${OPEN_DESCRIPTION}</span></li>`] : []),
    ...rows(RUN_MARK_DESCRIPTIONS, findRunMarks(shapes.filter(isStateShape), hasRun), (kind) =>
      renderSample(`node prompt ${kind}`, ROUNDED_BOX),
    ),
    ...rows(ARROW_DESCRIPTIONS, kinds(arrows), (kind) => renderSample(`edge ${kind}`, ARROW)),
    ...rows(TERM_DESCRIPTIONS, new Set(arrows.flatMap(({ terms }) => terms)), (term) =>
      renderSample(`edge ${term === 'worktree' || term === 'group' ? 'fork' : 'join'}`, ARROW),
    ),
    ...(hasComputed
      ? [`<li>${renderSample('edge goto computed', ARROW)}<span>${COMPUTED_DESCRIPTION}</span></li>`]
      : []),
  ].join('\n');
}

function findRunMarks(states: readonly StateShape[], hasRun: boolean): ReadonlySet<string> {
  const agentGroups = states.map(({ agents }) => splitByFailure(agents));
  const marks = [
    ['here', agentGroups.some(({ here }) => here.length > 0)],
    ['failed', agentGroups.some(({ failed }) => failed.length > 0)],
    ['untaken', states.some((state) => isUnvisited(state, hasRun))],
  ] as const;
  return new Set(marks.flatMap(([mark, isPresent]) => (isPresent ? [mark] : [])));
}

const ROUNDED_BOX = '<rect x="4" y="3" width="32" height="12" rx="5"/>';
const BOX = '<polygon points="4,3 36,3 36,15 4,15"/>';
const ARROW = '<path d="M2,9 L32,9"/><polygon points="31,5 39,9 31,13"/>';

const SHAPE_SAMPLES: Readonly<Record<string, string>> = {
  prompt: ROUNDED_BOX,
  any: ROUNDED_BOX,
  end: '<ellipse cx="20" cy="9" rx="4" ry="4"/><ellipse cx="20" cy="9" rx="7" ry="7" class="ring"/>',
  caller: '<ellipse cx="20" cy="9" rx="6" ry="6"/>',
};

const renderSample = (kind: string, drawing: string): string =>
  `<svg viewBox="0 0 40 18" width="40" height="18" aria-hidden="true"><g class="${kind}">${drawing}</g></svg>`;
