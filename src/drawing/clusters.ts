import { workflowNameOf } from '../language/named-workflows.ts';
import { type DiagramShape, isStateShape } from './diagram.ts';

/** A workflow that another calls, with its states and their markers. */
export interface Cluster {
  readonly key: string;
  readonly name: string;
  readonly shapes: readonly DiagramShape[];
}

/** The shapes of a diagram: those of the workflow itself, and those of each workflow that it calls. */
export interface ClusteredShapes {
  readonly own: readonly DiagramShape[];
  readonly clusters: readonly Cluster[];
}

/** Groups the shapes of a diagram by workflow. The markers of a state stand beside it. */
export function clusterShapes(shapes: readonly DiagramShape[]): ClusteredShapes {
  const nameByKey = new Map(
    shapes.flatMap((shape): [string, string | null][] =>
      isStateShape(shape) && shape.kind !== 'missing' ? [[shape.key, workflowNameOf(shape.state)]] : [],
    ),
  );
  // The key of a marker is that of its state and a letter.
  const nameOf = ({ key }: DiagramShape): string | null =>
    nameByKey.get(key) ?? nameByKey.get(key.slice(0, -1)) ?? null;
  const names = [...new Set(shapes.map(nameOf))].filter((name) => name !== null);
  return {
    own: shapes.filter((shape) => nameOf(shape) === null),
    clusters: names.map((name, index) => ({
      key: `w${index}`,
      name,
      shapes: shapes.filter((shape) => nameOf(shape) === name),
    })),
  };
}
