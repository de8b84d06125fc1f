import type { Endless } from './endless.ts';
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
  return view.proof.endless.filter(isMeant).flatMap((ring) => {
    const round = withoutAny(ring.round);
    const [first] = round;
    if (first === undefined) return [];
    const way = ring.path.length > 0 ? `; it begins with ${sayPath(ring.path, first.from)}` : '';
    const message = `${words.what}: ${sayPath(round, first.from)}${way}`;
    const path = [...withoutAny(ring.path), ...round];
    return [
      { file: first.from, at: first.at ?? WHOLE, message, hint: words.hint, level: words.level(ring, view), path },
    ];
  });
}

/** Certain if policies and scripts decide; a prompt without policy may still do something else. */
export function levelOfRing({ states }: Endless, { proof, pageOf }: View): Level {
  const certain = states.every((state) => {
    const page = pageOf.get(proof.flow.names[state] ?? '');
    return page?.kind === 'script' || (page?.source.state.rules.policy.length ?? 0) > 0;
  });
  return certain ? 'error' : 'warning';
}
