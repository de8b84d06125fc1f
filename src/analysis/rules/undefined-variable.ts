import { nearest } from '../../core/nearest.ts';
import { findGiven } from '../given.ts';
import type { Fault, Rule } from '../rule.ts';
import { type Use, usesIn } from '../variables.ts';
import { sayPath, withoutAny } from '../words.ts';

/** Variables that every state has, or that another rule looks at. */
const OWN = ['workflow_id', 'agent_id', 'state', 'result', 'input'];

/** A `{{variable}}` that is not set on some way to its state. */
export const undefinedVariable: Rule = {
  id: 'undefined-variable',
  level: 'warning',
  check(view) {
    const { graph, proof, pages, pageOf, sheet } = view;
    if (graph.entry === null) return [];
    const uses = pages.flatMap((page) => {
      if (page.kind !== 'prompt' || page.broken || !view.isReached(page.file)) return [];
      return firstOfEach(usesIn(page.source.state.text)).map((use) => ({ page, use }));
    });
    const unsettled = uses.filter(({ use }) => !OWN.includes(use.name));
    if (unsettled.length === 0) return [];
    const given = findGiven(proof, pageOf, sheet.variables, new Set(unsettled.map(({ use }) => use.name)));
    const set = new Set(graph.edges.flatMap(({ variables }) => variables));
    return unsettled.flatMap(({ page, use }): Fault[] => {
      const state = proof.flow.numberOf(page.file);
      if (given.has(state, use.name)) return [];
      const base = { file: page.file, at: page.place(use.offset) };
      if (!set.has(use.name)) return [{ ...base, ...unset(use, [...set, ...OWN]) }];
      const path = withoutAny(given.pathWithout(state, use.name));
      const message = `{{${use.name}}} is not set on every way to ${page.file}, not on this one: ${sayPath(path, page.file)}`;
      return [
        {
          ...base,
          message,
          hint: `Add ${use.name}="…" to each <fork> that leads here, or use a state of its own for the others.`,
          path,
        },
      ];
    });
  },
};

function firstOfEach(uses: readonly Use[]): readonly Use[] {
  const seen = new Set<string>();
  return uses.filter(({ name }) => !seen.has(name) && seen.add(name));
}

function unset({ name }: Use, known: readonly string[]): Pick<Fault, 'message' | 'hint'> {
  const meant = nearest(name, known);
  const suggestion = meant === undefined ? '' : ` (did you mean {{${meant}}}?)`;
  const hint = `Add ${name}="…" to the <fork>, start the run with --var ${name}=…, or write \\{{${name}}} if it is meant as it stands.`;
  return { message: `no <fork> of this workflow sets {{${name}}}${suggestion}`, hint };
}
