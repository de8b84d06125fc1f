import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LintFinding } from '../analysis/lint.ts';
import type { Sheet } from '../analysis/sheet.ts';
import { counted } from '../observers/words.ts';
import { shipped } from '../shipped.ts';
import { cardsOf, findingsAbove, routesOf } from './cards.ts';
import { escapeData, escapeMarkup } from './escape.ts';
import { legendOf } from './legend.ts';
import { pageOf } from './markup.ts';
import type { Picture, Shape } from './picture.ts';
import { toSvg } from './svg.ts';

/** What a page tells besides the picture. */
export interface Contents {
  /** The files of the workflow; null if they are no longer there. */
  readonly sheet: Sheet | null;
  readonly findings: readonly LintFinding[];
  /** How the run stands that is drawn, in a line; null if none is. */
  readonly run: string | null;
}

/**
 * A picture as a page for the browser. It is complete in itself, asks the network for nothing and could not: its own
 * policy forbids every request, and every script but the one that is in it.
 */
export async function toPage(picture: Picture, { sheet, findings, run }: Contents): Promise<string> {
  const svg = await toSvg(picture);
  const data = {
    cards: cardsOf(picture, sheet, findings),
    routes: routesOf(picture),
    findings: findingsAbove(picture, findings),
  };
  const script = SCRIPTS.map(scriptFrom).join('\n');
  return pageOf({
    policy: `${FORBIDDEN}; img-src data:; style-src 'unsafe-inline'; script-src '${digest(script)}'`,
    name: escapeMarkup(picture.name),
    summary: escapeMarkup(run ?? summaryOf(picture, findings)),
    style: webFile('page.css') + webFile('picture.css'),
    svg: svg.replace(/ width="[^"]*" height="[^"]*"/, ''),
    legend: legendOf(picture),
    data: escapeData(data),
    script,
  });
}

/** What there is, and what is only named. */
function summaryOf({ shapes, transitions }: Picture, findings: readonly LintFinding[]): string {
  const count = (...kinds: readonly Shape['kind'][]): number =>
    shapes.filter(({ kind }) => kinds.includes(kind)).length;
  const [missing, ambiguous] = [count('missing'), count('ambiguous')];
  const faults = (['error', 'warning'] as const).flatMap((level) => {
    const found = findings.filter((finding) => finding.level === level).length;
    return found > 0 ? [counted(found, level)] : [];
  });
  return [
    counted(count('prompt', 'script'), 'state'),
    counted(transitions, 'transition'),
    ...(missing > 0 ? [counted(missing, 'missing state')] : []),
    ...(ambiguous > 0 ? [counted(ambiguous, 'ambiguous name')] : []),
    ...faults,
  ].join(', ');
}

const FORBIDDEN = "default-src 'none'; base-uri 'none'; form-action 'none'";

const SCRIPTS = ['view.js', 'make.js', 'findings.js', 'panel.js', 'page.js'] as const;

const webFile = (name: string): string => readFileSync(shipped(`web/${name}`), 'utf8');

/** The scripts are modules; in the page they are one. */
const scriptFrom = (name: string): string =>
  webFile(name)
    .replace(/^import .*;\n/gm, '')
    .replace(/^export /gm, '');

const digest = (script: string): string => `sha256-${createHash('sha256').update(script).digest('base64')}`;
