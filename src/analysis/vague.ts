import { stem } from '../core/names.ts';
import { UNKNOWN } from './mentions.ts';
import type { Page } from './page.ts';
import { isPlaceholder } from './placeholders.ts';
import type { Resolver } from './resolver.ts';

/** Whether a name that finds no state need not find one, because it stands for one that will be said. */
export function isVague(name: string, { kind, explains }: Page, names: Resolver): boolean {
  // Only prompts are templates: what stands in braces in a script stays as it is.
  if (kind === 'script') return name.includes(UNKNOWN);
  return isPlaceholder(name) || (names.meant(name) === null && explains(stem(name)));
}
