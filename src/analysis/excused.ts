import type { Endless } from './endless.ts';
import { isTold, type View } from './rule.ts';

/** Mistakes by which a way out of a ring may have been lost. */
const LOST = ['unknown-tag', 'unclosed-tag', 'missing-state', 'forbidden-tag', 'silent-path'];

/** Whether a ring has a way out as soon as a mistake is mended that is told already. */
export function isExcused({ states }: Endless, view: View): boolean {
  return states.some((state) => isTold(view, view.proof.flow.names[state] ?? '', ...LOST));
}
