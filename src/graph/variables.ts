import { UNKNOWN } from '../core/tag-mentions.ts';
import { findLiteralWords } from './edges.ts';
import type { Edge } from './graph.ts';
import type { Proof } from './proof.ts';
import { findMoves } from './reachability.ts';
import type { StateAnalysis } from './state-analysis.ts';

/** A `{{name}}` in a prompt. */
export interface VariableUse {
  readonly name: string;
  /** Its offset in the prompt. */
  readonly offset: number;
}

/** Finds the variables of a prompt, in order; `\\{{…}}` and `${{…}}` are none. */
export function findVariableUses(prompt: string): readonly VariableUse[] {
  if (!prompt.includes('{{')) return [];
  const found = [...prompt.matchAll(/(?<![\\$])\{\{\s*([\p{L}_][\p{L}\p{N}_-]*)\s*\}\}/gu)];
  return found.map(({ index, 1: name = '' }) => ({ name, offset: index }));
}

/** Finds the states in which `{{result}}` can be set: by an input, by a call that came back, or by the command line. */
export function findStatesWithResult({ flow, ends, reach }: Proof): ReadonlySet<number> {
  const withResult = new Set(flow.entry === null ? flow.names.keys() : [flow.entry]);
  for (const state of flow.names.keys()) {
    if (!reach.has(state) || state === flow.any) continue;
    for (const { to, how, exit } of findMoves(flow, ends, state)) {
      const handsOver = exit.edge === null || exit.edge.passesInput !== 'never';
      if (how === 'back' || (handsOver && how !== 'next')) withResult.add(to);
    }
  }
  return withResult.has(flow.any) ? new Set(flow.names.keys()) : withResult;
}

/** The names of some variables, or all that there could be. */
export type VariableSet = ReadonlySet<string> | 'all';

/** Finds the variables, out of the `used` ones, that a fork gives to its worker; a prompt may also name them beside the tag. */
export function findForkVariables(
  edge: Edge | null,
  analysis: StateAnalysis | undefined,
  used: ReadonlySet<string>,
): VariableSet {
  if (edge === null || edge.variables.some((name) => name.includes(UNKNOWN))) return 'all';
  const literalWords = analysis?.kind === 'prompt' ? findLiteralWords(analysis.source.state.text) : [];
  return new Set([...edge.variables, ...literalWords].filter((name) => used.has(name)));
}
