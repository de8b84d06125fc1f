import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import { renderTemplate } from '../language/text/template.ts';
import type { LintFinding } from '../lint/lint.ts';
import { resolvePackageFile } from '../package-files.ts';
import { formatCount } from '../render/format.ts';
import type { Diagram, DiagramShape } from './diagram.ts';
import { toSvg } from './draw-svg.ts';
import { escapeMarkup, escapeScriptData } from './escape.ts';
import { renderLegend } from './legend.ts';
import { buildStateCards, listPageArrows, listWorkflowFindings } from './state-cards.ts';
import type { TurnsByState } from './state-turns.ts';

/** The contents of a page besides the picture. */
export interface GraphPageContents {
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
