import { clusterShapes } from './clusters.ts';
import { type Arrow, type Diagram, type DiagramMarker, type DiagramShape, isStateShape } from './diagram.ts';
import { FONT_SCALE, toGraphviz } from './graphviz.ts';
import {
  escapeMarkup,
  explainUnenterable,
  formatAgentLines,
  formatArrowLabel,
  formatVisitSummary,
  shortenLabel,
} from './labels.ts';

/** Renders a diagram as an SVG document, in this thread. Graphviz, which lays it out, is large and loaded only here. */
export async function toSvgHere(diagram: Diagram): Promise<string> {
  const { instance } = await import('@viz-js/viz');
  const viz = await instance();
  const { status, output, errors } = viz.renderFormats(toGraphviz(diagram), ['svg', 'plain']);
  if (status === 'failure') throw new Error(`Graphviz: ${errors.map(({ message }) => message).join('; ')}`);
  const { svg = '', plain = '' } = output;
  const titles = collectTitles(diagram);
  const centers = parseNodeCenters(plain);
  return (
    svg
      .slice(svg.indexOf('<svg'))
      .replace(/<!--.*?-->\n?/gs, '')
      // The title of the whole picture, for screen readers.
      .replace(/^<svg[^>]*>\n?/, (head) => `${head.trimEnd()}\n<title>${escapeMarkup(diagram.name)}</title>\n`)
      .replace(/ font-size="([\d.]+)"/g, (_, size: string) => ` font-size="${(Number(size) / FONT_SCALE).toFixed(1)}"`)
      .replace(TITLED_GROUP, (_, head: string, key: string, body: string) => {
        return `${head}<title>${escapeMarkup(titles.get(key) ?? '')}</title>${centerText(body, centers.get(key))}`;
      })
  );
}

/** A group with its key, whose first child is a title: Graphviz makes that the key, people want to read a name. */
const TITLED_GROUP = /(<g id="(\w+)" class="[^"]*"[^>]*>\s*)<title>[^<]*<\/title>((?:(?!<g |<\/g>).)*)/gs;

/** The horizontal center of each node, from lines such as `node s0 1.5 2.25 …`. */
function parseNodeCenters(plain: string): ReadonlyMap<string, number> {
  const found = plain.matchAll(/^node (\w+) ([\d.]+) /gm);
  return new Map([...found].map(([, key = '', inches]) => [key, Number(inches) * 72]));
}

/** Centers text in its node: Graphviz only guesses how wide a text is, which shows at the edges. */
function centerText(body: string, center: number | undefined): string {
  if (center === undefined) return body;
  return body.replace(/text-anchor="start" x="[^"]*"/g, `text-anchor="middle" x="${center.toFixed(2)}"`);
}

function collectTitles({ name, shapes, arrows }: Diagram): ReadonlyMap<string, string> {
  const byKey = new Map(shapes.map((shape) => [shape.key, shape]));
  const titleByKey = (key: string): string => formatShapeTitle(byKey.get(key));
  return new Map([
    ['graph0', name],
    ...clusterShapes(shapes).clusters.map((cluster): [string, string] => [cluster.key, `the workflow ${cluster.name}`]),
    ...shapes.map((shape): [string, string] => [shape.key, describeShape(shape)]),
    ...arrows.map((arrow, index): [string, string] => [`a${index}`, describeArrow(arrow, titleByKey)]),
  ]);
}

const MARKER_TITLES: Readonly<Record<DiagramMarker['kind'], string>> = {
  begin: 'the start',
  end: 'the end of the agent',
  caller: 'back to the caller',
  any: 'any state: chosen at run time',
  targetless: 'no target given',
};

/** The name of a shape, in words for a marker. */
export const formatShapeTitle = (shape: DiagramShape | undefined): string =>
  shape === undefined ? '' : isStateShape(shape) ? shape.state : MARKER_TITLES[shape.kind];

const MAX_REASON_LENGTH = 200;

function describeShape(shape: DiagramShape): string {
  if (!isStateShape(shape)) return formatShapeTitle(shape);
  const reasons = shape.agents.flatMap(({ label, why }) =>
    why === null ? [] : [`${label}: ${shortenLabel(why, MAX_REASON_LENGTH)}`],
  );
  const lines = [
    shape.state,
    explainUnenterable(shape),
    shape.description,
    formatVisitSummary(shape),
    ...formatAgentLines(shape.agents),
    ...reasons,
  ];
  return lines.filter((line) => line !== null).join('\n');
}

const describeArrow = (arrow: Arrow, titleByKey: (key: string) => string): string =>
  `${titleByKey(arrow.from)} → ${titleByKey(arrow.to)}${formatArrowLabel(arrow) === '' ? '' : `: ${formatArrowLabel(arrow)}`}`;
