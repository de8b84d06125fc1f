import { ROOM } from './dress.ts';
import { escapeMarkup } from './escape.ts';
import { figuresOf, inLine, labelOf, presenceLines, remarkOf } from './figures.ts';
import { toGraphviz } from './layout.ts';
import { type Arrow, isState, type Mark, type Picture, type Shape } from './picture.ts';

/** A picture as an SVG document. Graphviz, which lays it out, is large and loaded only here. */
export async function toSvg(picture: Picture): Promise<string> {
  const { instance } = await import('@viz-js/viz');
  const viz = await instance();
  const { status, output, errors } = viz.renderFormats(toGraphviz(picture), ['svg', 'plain']);
  if (status === 'failure') throw new Error(`Graphviz: ${errors.map(({ message }) => message).join('; ')}`);
  const { svg = '', plain = '' } = output;
  const titles = titlesOf(picture);
  const middles = middlesIn(plain);
  return (
    svg
      .slice(svg.indexOf('<svg'))
      .replace(/<!--.*?-->\n?/gs, '')
      // For whoever cannot see the picture, it begins with its name.
      .replace(/^<svg[^>]*>\n?/, (head) => `${head.trimEnd()}\n<title>${escapeMarkup(picture.name)}</title>\n`)
      .replace(/ font-size="([\d.]+)"/g, (_, size: string) => ` font-size="${(Number(size) / ROOM).toFixed(1)}"`)
      .replace(GROUP, (_, head: string, key: string, body: string) => {
        return `${head}<title>${escapeMarkup(titles.get(key) ?? '')}</title>${centred(body, middles.get(key))}`;
      })
  );
}

/** A group with its key, whose first child is a title: Graphviz calls things by their keys, people want to read names. */
const GROUP = /(<g id="(\w+)" class="[^"]*"[^>]*>\s*)<title>[^<]*<\/title>((?:(?!<g |<\/g>).)*)/gs;

/** Where the middle of each node is, from lines such as `node s0 1.5 2.25 …`. */
function middlesIn(plain: string): ReadonlyMap<string, number> {
  const found = plain.matchAll(/^node (\w+) ([\d.]+) /gm);
  return new Map([...found].map(([, key = '', inches]) => [key, Number(inches) * 72]));
}

/** Graphviz only guesses how wide a text will be; in the middle, it may be wrong. */
function centred(body: string, middle: number | undefined): string {
  if (middle === undefined) return body;
  return body.replace(/text-anchor="start" x="[^"]*"/g, `text-anchor="middle" x="${middle.toFixed(2)}"`);
}

function titlesOf({ name, shapes, arrows }: Picture): ReadonlyMap<string, string> {
  const byKey = new Map(shapes.map((shape) => [shape.key, shape]));
  const nameOf = (key: string): string => titleOf(byKey.get(key));
  return new Map([
    ['graph0', name],
    ...shapes.map((shape): [string, string] => [shape.key, aboutShape(shape)]),
    ...arrows.map((arrow, index): [string, string] => [`a${index}`, aboutArrow(arrow, nameOf)]),
  ]);
}

const MARK_TITLES: Readonly<Record<Mark['kind'], string>> = {
  begin: 'the start',
  end: 'the end of the agent',
  back: 'back to the caller',
  any: 'any state: its name is known only when it is said',
  unsaid: 'it is not said where to',
};

/** What a shape is called. */
export const titleOf = (shape: Shape | undefined): string =>
  shape === undefined ? '' : isState(shape) ? shape.state : MARK_TITLES[shape.kind];

const LONGEST_WHY = 200;

function aboutShape(shape: Shape): string {
  if (!isState(shape)) return titleOf(shape);
  const whys = shape.agents.flatMap(({ id, why }) => (why === null ? [] : [`${id}: ${inLine(why, LONGEST_WHY)}`]));
  const lines = [
    shape.state,
    remarkOf(shape),
    shape.description,
    figuresOf(shape),
    ...presenceLines(shape.agents),
    ...whys,
  ];
  return lines.filter((line) => line !== null).join('\n');
}

const aboutArrow = (arrow: Arrow, nameOf: (key: string) => string): string =>
  `${nameOf(arrow.from)} → ${nameOf(arrow.to)}${labelOf(arrow) === '' ? '' : `: ${labelOf(arrow)}`}`;
