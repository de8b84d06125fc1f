import { relative } from 'node:path';
import { buildGraph } from '../analysis/build.ts';
import type { Graph } from '../analysis/graph.ts';
import { lint } from '../analysis/lint.ts';
import type { Sheet } from '../analysis/sheet.ts';
import type { Run } from '../core/run.ts';
import type { Standing } from '../core/standing.ts';
import { compose, type Traffic } from '../drawing/compose.ts';
import { Journey } from '../drawing/journey.ts';
import { toMermaid } from '../drawing/mermaid.ts';
import type { Picture } from '../drawing/picture.ts';
import { RaymondError } from '../errors.ts';
import { oneLine } from '../observers/harmless.ts';
import { counted, dollars } from '../observers/words.ts';
import { findRaymondFolder, layoutOf } from '../store/layout.ts';
import { findRun } from '../store/runs.ts';
import { lookAt } from '../store/standing.ts';
import { wrongPath } from '../workflow/locate.ts';
import { type Circumstances, readSheet } from '../workflow/sheet.ts';
import { withScriptFaults } from './bash-check.ts';
import { circumstancesIn, type LintRequest } from './lint.ts';
import { recordedEvents } from './records.ts';

/** What a workflow can be drawn as. */
export const GRAPH_FORMATS = ['mermaid', 'svg', 'html'] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

/** A drawing, and what should be said about it. */
export interface Drawing {
  readonly text: string;
  readonly warning: string | null;
}

/** Draws a workflow: a folder, a zip or a state file, however broken it is. */
export async function drawWorkflow(path: string, format: GraphFormat, request: LintRequest = {}): Promise<Drawing> {
  const cwd = request.cwd ?? process.cwd();
  const sheet = await sheetFrom(path, circumstancesIn(cwd, request));
  if (sheet.files.every(({ kind }) => kind === 'other')) throw nothingIn(relative(cwd, path) || '.', sheet);
  return { text: await draw(compose(mapOf(sheet)), format, { sheet, run: null }), warning: null };
}

/** Draws a workflow with the ways that scenarios took over it, and those they left out. */
export async function drawTraffic(
  path: string,
  journey: Traffic,
  headline: string,
  format: GraphFormat,
  cwd = process.cwd(),
): Promise<string> {
  const sheet = await sheetFrom(path, circumstancesIn(cwd, {}));
  return draw(compose(mapOf(sheet), { journey, agents: [] }), format, { sheet, run: headline });
}

/** Draws a run, its id, the beginning of it or `last`, over its workflow as that is now. */
export async function drawRun(wanted: string, format: GraphFormat, cwd = process.cwd()): Promise<Drawing> {
  const layout = layoutOf(findRaymondFolder(cwd));
  const { run, standing } = await lookAt(layout, await findRun(layout, wanted));
  const journey = new Journey();
  for (const event of await recordedEvents(run.id, cwd)) journey.tell(event);
  const found = await workflowOf(run);
  const graph = found.sheet === null ? emptyGraph(run) : mapOf(found.sheet);
  const picture = compose(graph, { journey, agents: run.agents });
  const text = await draw({ ...picture, name: run.id }, format, { sheet: found.sheet, run: headline(run, standing) });
  return { text, warning: found.warning };
}

/** The workflow of a run may have been moved, or its zip be half written: then what the run tells is drawn alone. */
async function workflowOf(run: Run): Promise<{ readonly sheet: Sheet | null; readonly warning: string | null }> {
  const { workflow, options } = run;
  const { resetStack, variables } = options;
  try {
    const { platform } = workflow;
    const sheet = await sheetFrom(workflow.path, { platform, resetStack, variables: Object.keys(variables) });
    return { sheet, warning: null };
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    return {
      sheet: null,
      warning: `only what the run tells is drawn, for its workflow cannot be read: ${error.message}`,
    };
  }
}

const sheetFrom = async (path: string, circumstances: Circumstances): Promise<Sheet> =>
  withScriptFaults((await readSheet(path, circumstances)).sheet);

/** Of a folder without states there is nothing to draw; lint knows what its author may have meant. */
function nothingIn(path: string, sheet: Sheet): RaymondError {
  const hint = lint(sheet).find(({ rule }) => rule === 'missing-entry')?.hint;
  return wrongPath(`there is no workflow in \`${oneLine(path)}\``, hint);
}

/** A script that bash refuses goes nowhere: that we cannot read it either does not mean that it may go anywhere. */
function mapOf(sheet: Sheet): Graph {
  const graph = buildGraph(sheet);
  const refused = new Set(sheet.files.flatMap((file) => (file.kind === 'state' && file.fault ? [file.file] : [])));
  return { ...graph, nodes: graph.nodes.map((node) => (refused.has(node.state) ? { ...node, open: false } : node)) };
}

const emptyGraph = ({ workflow }: Run): Graph => ({ name: workflow.name, entry: null, nodes: [], edges: [] });

function headline({ workflow, ledger, agents }: Run, standing: Standing): string {
  const live = agents.filter(({ phase }) => phase.kind !== 'ended' && phase.kind !== 'failed').length;
  const who = `${counted(agents.length, 'agent')}${live > 0 ? `, ${live} of them not at an end` : ''}`;
  return `${workflow.name}: ${standing.replaceAll('_', ' ')}, ${who}, ${dollars(ledger.spentMicros)}`;
}

interface Context {
  readonly sheet: Sheet | null;
  readonly run: string | null;
}

/** The code for pages and SVG is loaded only where it is needed. */
async function draw(picture: Picture, format: GraphFormat, { sheet, run }: Context): Promise<string> {
  switch (format) {
    case 'mermaid':
      return toMermaid(picture);
    case 'svg':
      return (await import('../drawing/svg.ts')).toSvg(picture);
    case 'html': {
      const findings = sheet === null ? [] : lint(sheet);
      return (await import('../drawing/page.ts')).toPage(picture, { sheet, findings, run });
    }
  }
}
