import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { formatCount } from '../events/format.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import type { LintFinding } from '../lint/lint.ts';
import { resolvePackageFile } from '../package-files.ts';
import type { Diagram, DiagramShape } from './diagram.ts';
import { escapeMarkup, escapeScriptData } from './escape.ts';
import { renderLegend } from './legend.ts';
import { buildStateCards, listPageArrows, listWorkflowFindings } from './state-cards.ts';
import { toSvg } from './svg.ts';

/** The contents of a page besides the picture. */
export interface GraphPageContents {
  /** The files of the workflow; null if they are no longer there. */
  readonly source: WorkflowSource | null;
  readonly findings: readonly LintFinding[];
  /** The status of the run that is drawn, in a line; null if none is. */
  readonly run: string | null;
}

/**
 * Renders a diagram as a self-contained page. Its content security policy forbids every request, and every script but its
 * own.
 */
export async function toHtmlPage(diagram: Diagram, { source, findings, run }: GraphPageContents): Promise<string> {
  const svg = await toSvg(diagram);
  const data = {
    cards: buildStateCards(diagram, source, findings),
    routes: listPageArrows(diagram),
    findings: listWorkflowFindings(diagram, findings),
  };
  const script = SCRIPTS.map(inlineModule).join('\n');
  return fillTemplate({
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

const SCRIPTS = ['view.js', 'make.js', 'findings.js', 'panel.js', 'page.js'] as const;

const webFile = (name: string): string => readFileSync(resolvePackageFile(`web/${name}`), 'utf8');

/** A module without its imports and exports: in the page all scripts are one. */
const inlineModule = (name: string): string =>
  webFile(name)
    .replace(/^import .*;\n/gm, '')
    .replace(/^export /gm, '');

const hashScript = (script: string): string => `sha256-${createHash('sha256').update(script).digest('base64')}`;

/** The parts of a page, as markup: everything that came from a workflow has been escaped. */
interface GraphPageParts {
  readonly policy: string;
  readonly name: string;
  readonly summary: string;
  readonly style: string;
  readonly svg: string;
  readonly legend: string;
  readonly data: string;
  readonly script: string;
}

const CANVAS_LABEL =
  'The workflow as a picture. Arrow keys move it, plus and minus zoom, 0 shows everything. ' +
  'The list of states beside it says the same in words.';

const fillTemplate = (parts: GraphPageParts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${parts.policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${parts.name}</title>
<style>
${parts.style}</style>
</head>
<body>
<header>
  <h1>${parts.name}</h1>
  <p id="summary">${parts.summary}</p>
  <div class="tools" role="group" aria-label="The picture">
    <button type="button" id="zoom-out" aria-label="Zoom out" title="Zoom out (-)">−</button>
    <button type="button" id="zoom-in" aria-label="Zoom in" title="Zoom in (+)">+</button>
    <button type="button" id="fit" title="Show everything (0)">Fit</button>
    <button type="button" id="theme" aria-label="Light or dark" title="Light or dark">◐</button>
  </div>
</header>
<main>
  <div id="canvas" tabindex="0" role="group" aria-label="${CANVAS_LABEL}">
${parts.svg}    <p id="more" hidden></p>
  </div>
  <aside aria-label="States">
    <form role="search">
      <input type="search" id="search" placeholder="Find a state or a word in a prompt"
        aria-label="Find a state or a word in a prompt" autocomplete="off" spellcheck="false">
      <output id="found" for="search"></output>
    </form>
    <ul id="findings"></ul>
    <ul id="states"></ul>
    <details id="legend" open>
      <summary>Legend</summary>
      <ul>
${parts.legend}
      </ul>
    </details>
    <section id="details" aria-label="The selected state" tabindex="-1" hidden></section>
    <noscript>Without scripts there is only the picture.</noscript>
  </aside>
</main>
<script type="application/json" id="data">${parts.data}</script>
<script type="module">${parts.script}</script>
</body>
</html>
`;
