import { wordsToSay } from './edges.ts';
import type { Edge } from './graph.ts';
import { UNKNOWN } from './mentions.ts';
import type { Page } from './page.ts';
import type { Proof } from './proof.ts';
import { movesFrom } from './reach.ts';

/** A `{{name}}` in a prompt. */
export interface Use {
  readonly name: string;
  /** Its offset in the prompt. */
  readonly offset: number;
}

/** The variables that a prompt asks for, in order; what stands behind a backslash is none, nor is `${{…}}`. */
export function usesIn(prompt: string): readonly Use[] {
  if (!prompt.includes('{{')) return [];
  const found = [...prompt.matchAll(/(?<![\\$])\{\{\s*([\p{L}_][\p{L}\p{N}_-]*)\s*\}\}/gu)];
  return found.map(({ index, 1: name = '' }) => ({ name, offset: index }));
}

/** The states in which `{{result}}` can be set: by an input, by a call that came back, or by the command line. */
export function findHandedOver({ flow, ends, reach }: Proof): ReadonlySet<number> {
  const fed = new Set(flow.entry === null ? flow.names.keys() : [flow.entry]);
  for (const state of flow.names.keys()) {
    if (!reach.has(state) || state === flow.any) continue;
    for (const { to, how, exit } of movesFrom(flow, ends, state)) {
      const given = exit.edge === null || exit.edge.input !== 'never';
      if (how === 'back' || (given && how !== 'next')) fed.add(to);
    }
  }
  return fed.has(flow.any) ? new Set(flow.names.keys()) : fed;
}

/** Names of variables, or all there could be. */
export type Names = ReadonlySet<string> | 'all';

/** Which of the variables that are `used` at all a fork gives to its worker. A prompt may also tell so in words. */
export function namesGiven(edge: Edge | null, page: Page | undefined, used: ReadonlySet<string>): Names {
  if (edge === null || edge.variables.some((name) => name.includes(UNKNOWN))) return 'all';
  const told = page?.kind === 'prompt' ? wordsToSay(page.source.state.text) : [];
  return new Set([...edge.variables, ...told].filter((name) => used.has(name)));
}
