import { type Computation, computeWithin } from '../deadline.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { formatCount } from '../render/format.ts';
import { type Diagram, isStateShape } from './diagram.ts';

const DRAW: Computation<Diagram, string> = { name: 'draw', deadlineMs: 20_000 };

/** Diagrams that were too large, by name and size: a page asks for the same one again and again. */
const tooLarge = new Set<string>();
const MAX_REMEMBERED = 100;

/** Renders a diagram as an SVG document. Throws a RaymondError if it is too large for a layout. */
export async function toSvg(diagram: Diagram, deadlineMs = DRAW.deadlineMs): Promise<string> {
  const key = JSON.stringify([diagram.name, diagram.shapes.length, diagram.arrows.length]);
  if (!tooLarge.has(key)) {
    const drawn = await computeWithin({ ...DRAW, deadlineMs }, diagram);
    if ('value' in drawn) return drawn.value;
    if (tooLarge.size >= MAX_REMEMBERED) tooLarge.clear();
    tooLarge.add(key);
  }
  const states = formatCount(diagram.shapes.filter(isStateShape).length, 'state');
  const size = `${states} and ${formatCount(diagram.transitions, 'transition')}`;
  throw new RaymondError(`${diagram.name} is too large to be drawn as a picture: it has ${size}`, {
    exitCode: EXIT.failed,
    hint: 'Use the format `mermaid`, which is text and needs no layout.',
  });
}
