import type { Endless } from './endless.ts';
import { isExcused } from './excused.ts';
import type { Fault, Level, View } from './rule.ts';
import { WHOLE } from './sheet.ts';
import { sayPath, withoutAny } from './words.ts';

/** What a rule says about a ring. */
interface Words {
  /** The beginning of the message; one round follows. */
  readonly what: string;
  readonly hint: string;
  readonly level: (ring: Endless, view: View) => Level;
}

/** One fault for each ring of a kind, at the place where it is entered upon. */
export function endlessFaults(view: View, isMeant: (ring: Endless) => boolean, words: Words): readonly Fault[] {
  const rings = view.proof.endless.filter((ring) => isMeant(ring) && !isExcused(ring, view));
  return rings.flatMap((ring) => {
    const round = withoutAny(ring.round);
    const [first] = round;
    if (first === undefined) return [];
    const way = ring.path.length > 0 ? `; it begins with ${sayPath(ring.path, first.from)}` : '';
    const message = `${words.what}: ${sayPath(round, first.from)}${sayOthers(ring, view)}${way}`;
    const path = [...withoutAny(ring.path), ...round];
    return [
      { file: first.from, at: first.at ?? WHOLE, message, hint: words.hint, level: words.level(ring, view), path },
    ];
  });
}

/** The states that are no better off and that the round does not show. */
function sayOthers({ states, round }: Endless, { graph, proof }: View): string {
  const shown = new Set(round.map(({ from }) => from));
  const nodes = new Set(graph.nodes.map(({ state }) => state));
  const others = states
    .map((state) => proof.flow.names[state] ?? '')
    .filter((name) => nodes.has(name) && !shown.has(name));
  const [first, second] = others;
  if (first === undefined) return '';
  if (second === undefined) return `, and ${first}, where it leads too, comes to no <result> either`;
  const named = others.length > MOST_NAMED ? `${others.length} other states` : others.sort().join(', ');
  return `, and ${named}, where it leads too, come to no <result> either`;
}

const MOST_NAMED = 4;

/** Certain if policies and scripts decide; a prompt without policy may still do something else. */
export function levelOfRing({ states }: Endless, { proof, pageOf }: View): Level {
  const certain = states.every((state) => {
    const page = pageOf.get(proof.flow.names[state] ?? '');
    return page?.kind === 'script' || (page?.source.state.rules.policy.length ?? 0) > 0;
  });
  return certain ? 'error' : 'warning';
}
