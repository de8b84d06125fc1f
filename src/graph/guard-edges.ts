import { GUARD_OUTCOMES, startsNewSession } from '../language/guards.ts';
import { WHOLE_FILE } from '../language/text/text-position.ts';
import type { Edge, EdgeTarget } from './graph.ts';
import type { StateAnalysis } from './state-analysis.ts';
import type { StateResolver } from './state-resolver.ts';

/** Finds the transitions that a state's guards make of its outcomes. */
export function findGuardEdges({ file, source }: StateAnalysis, names: StateResolver): readonly Edge[] {
  const { on = {} } = source.state.rules.guards ?? {};
  return GUARD_OUTCOMES.flatMap((guard): readonly Edge[] => {
    const name = on[guard];
    if (name === undefined) return [];
    return [
      {
        from: file,
        tag: startsNewSession(guard) ? 'reset' : 'goto',
        guard,
        evaluator: null,
        to: findTarget(name, names),
        payload: null,
        return: null,
        next: null,
        borrowsNext: false,
        timesOut: false,
        clearsStack: false,
        variables: [],
        terms: [],
        origin: 'guard',
        at: source.keys[`on.${guard}`] ?? WHOLE_FILE,
        // The next state gets what this one had.
        passesInput: 'perhaps',
      },
    ];
  });
}

function findTarget(name: string, names: StateResolver): EdgeTarget {
  const found = names.resolve(name);
  if (found.kind === 'found') return { kind: 'state', file: found.file };
  const meant = names.suggest(name);
  if (found.kind !== 'ambiguous') return { kind: 'missing', name, meant };
  return { kind: 'missing', name, meant, others: names.candidatesFor(name).filter((file) => file !== meant) };
}
