import { stem } from '../core/state-names.ts';
import { UNKNOWN } from '../core/tag-mentions.ts';
import type { StateAnalysis } from './state-analysis.ts';
import { isPlaceholderName } from './placeholders.ts';
import type { StateResolver } from './state-resolver.ts';

/** Whether a name that finds no state need not find one, because it stands for one that will be said. */
export function isNameDecidedAtRuntime(name: string, { kind, explains }: StateAnalysis, names: StateResolver): boolean {
  // Only prompts are templates: what stands in braces in a script stays as it is.
  if (kind === 'script') return name.includes(UNKNOWN);
  return isPlaceholderName(name) || (names.suggest(name) === null && explains(stem(name)));
}
