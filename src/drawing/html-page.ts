import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { formatCount } from '../events/format.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import type { LintFinding } from '../lint/lint.ts';
import { resolvePackageFile } from '../package-files.ts';
import type { Diagram, DiagramShape } from './diagram.ts';
import { escapeMarkup, escapeScriptData } from './escape.ts';
import { renderLegend } from './legend.ts';
import { renderGraphPage } from './page-template.ts';
import { buildStateCards, listPageArrows, listWorkflowFindings } from './state-cards.ts';
import { toSvg } from './svg.ts';

/** What a page tells besides the picture. */
export interface GraphPageContents {
  /** The files of the workflow; null if they are no longer there. */
  readonly source: WorkflowSource | null;
  readonly findings: readonly LintFinding[];
  /** How the run stands that is drawn, in a line; null if none is. */
  readonly run: string | null;
}

/**
 * A picture as a page for the browser. It is complete in itself, asks the network for nothing and could not: its own
 * policy forbids every request, and every script but the one that is in it.
 */
export async function toHtmlPage(diagram: Diagram, { source, findings, run }: GraphPageContents): Promise<string> {
  const svg = await toSvg(diagram);
  const data = {
    cards: buildStateCards(diagram, source, findings),
    routes: listPageArrows(diagram),
    findings: listWorkflowFindings(diagram, findings),
  };
  const script = SCRIPTS.map(inlineModule).join('\n');
  return renderGraphPage({
    policy: `${FORBID_EVERYTHING}; img-src data:; style-src 'unsafe-inline'; script-src '${hashScript(script)}'`,
    name: escapeMarkup(diagram.name),
    summary: escapeMarkup(run ?? formatSummary(diagram, findings)),
    style: webFile('page.css') + webFile('picture.css'),
    svg: svg.replace(/ width="[^"]*" height="[^"]*"/, ''),
    legend: renderLegend(diagram),
    data: escapeScriptData(data),
    script,
  });
}

/** What there is, and what is only named. */
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

const SCRIPTS = ['view.js', 'make.js', 'findings.js', 'panel.js', 'page.js'] as const;

const webFile = (name: string): string => readFileSync(resolvePackageFile(`web/${name}`), 'utf8');

/** The scripts are modules; in the page they are one. */
const inlineModule = (name: string): string =>
  webFile(name)
    .replace(/^import .*;\n/gm, '')
    .replace(/^export /gm, '');

const hashScript = (script: string): string => `sha256-${createHash('sha256').update(script).digest('base64')}`;
