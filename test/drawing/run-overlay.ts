import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import { composeDiagram, type RunOverlay } from '../../src/drawing/compose.ts';
import { type Diagram, isStateShape } from '../../src/drawing/diagram.ts';
import { TransitionCounter } from '../../src/drawing/transition-counter.ts';
import { buildGraph } from '../../src/graph/build.ts';
import { type Files, sourceOf } from '../lint/source-of.ts';

/** The picture of a workflow made of these files. */
export const diagramOf = (files: Files, overlay?: RunOverlay): Diagram =>
  composeDiagram(buildGraph(sourceOf(files)), overlay);

/** A run as far as it is drawn. */
export function overlayOf({ run, events }: { readonly run: Run; readonly events: readonly Event[] }): RunOverlay {
  const counter = new TransitionCounter();
  for (const event of events) counter.add(event);
  return { counts: counter, agents: run.agents };
}

/** The arrows of a picture in short: `START.md –goto→ B.md`, with what is written on them if that is more. */
export function arrowsIn({ shapes, arrows }: Diagram): readonly string[] {
  const names = new Map(shapes.map((shape) => [shape.key, isStateShape(shape) ? shape.state : `(${shape.kind})`]));
  return arrows.map(({ from, kind, to, labels, times, unforeseen }) => {
    const more = labels.join(', ') === kind || labels.length === 0 ? '' : ` "${labels.join(', ')}"`;
    const count = times === null ? '' : ` ×${times}`;
    return `${names.get(from)} –${kind}→ ${names.get(to)}${more}${count}${unforeseen ? ' unforeseen' : ''}`;
  });
}
