import { buildGraph } from '../graph/build.ts';
import { prove } from '../graph/proof.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import type { FileFinding } from '../language/state.ts';
import { WHOLE_FILE } from '../language/text/text.ts';
import { isWorkflowTag } from '../language/transitions/index.ts';

/**
 * Finds workflows that call each other without end, where policies leave no other way: a run could only go deeper until it
 * is stopped. What a text says is judged by lint alone.
 */
export function findEndlessNesting(source: WorkflowSource): readonly FileFinding[] {
  const limited = new Set(
    source.files.flatMap((file) => (file.kind === 'state' && file.state.rules.policy.length > 0 ? file.file : [])),
  );
  const { endless, flow } = prove(buildGraph(source));
  return endless.flatMap(({ kind, bounded, states, round }): readonly FileFinding[] => {
    const [first] = round;
    const isCertain = states.every((state) => limited.has(flow.names[state] ?? ''));
    const crosses = round.some(({ tag }) => tag !== null && isWorkflowTag(tag));
    if (kind !== 'recursion' || bounded || !isCertain || !crosses || first === undefined) return [];
    const way = [first.from, ...round.map(({ to }) => to)].join(' → ');
    const message = `workflows call each other without end: ${way}, and none of these states can return`;
    return [{ level: 'error', file: first.from, ...(first.at ?? WHOLE_FILE), message }];
  });
}
