import { nearest } from '../../core/nearest.ts';
import { isBuiltInAttribute, type Tag } from '../../core/tag.ts';
import { comparePositions, type TextPosition } from '../../core/text-position.ts';
import { TRANSITIONS } from '../../core/transitions/index.ts';
import { findForkContinuations } from '../../graph/edges.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { quoteTag } from '../messages.ts';
import { defineStateRule } from '../rule.ts';
import { findSwappedAttribute } from '../swapped-attributes.ts';
import { levelForTag } from '../unresolved-names.ts';

/** A call does not say where it returns to, or a fork not where its parent goes on. */
export const missingAttribute = defineStateRule(
  { id: 'missing-attribute', level: 'error', supersedes: ['unreachable-state'] },
  (analysis) => {
    const hasContinuation = (at: TextPosition): boolean =>
      findForkContinuations(analysis.tags).length > 0 && !canEndAlone(at, analysis);
    return analysis.tags.flatMap(({ name, tag, at, sure }) => {
      const missing = TRANSITIONS[name].required.filter((key) => (tag.attributes[key] ?? '').trim() === '');
      return missing.flatMap((key) => {
        if (!sure || (key === 'next' && hasContinuation(at)) || findSwappedAttribute({ name, tag }) !== undefined)
          return [];
        const misspelt = findMisspeltAttribute(key, tag);
        const instead = misspelt === undefined ? '' : `, and \`${misspelt}\` is no attribute of it`;
        const message = `${quoteTag(name, tag)}: \`${key}="STATE"\` is missing${instead}`;
        const hint = misspelt === undefined ? HINTS[key] : `Write \`${key}\` instead of \`${misspelt}\`.`;
        // Another tag of the file may be meant as the goto beside a fork.
        const causes = key === 'next' ? [analysis.file] : [];
        return [{ at, message, hint, level: levelForTag(analysis), causes }];
      });
    });
  },
);

const HINTS = {
  return: 'Add `return="STATE"` with the state that is to get the result.',
  next: 'Add `next="STATE"` with the state in which the parent goes on, or put one <goto> beside the forks.',
};

/** An attribute that is probably this one misspelt. */
export function findMisspeltAttribute(key: string, { attributes }: Tag): string | undefined {
  if ((attributes[key] ?? '').trim() !== '') return undefined;
  return Object.keys(attributes).find((each) => !isBuiltInAttribute(each) && nearest(each, [key]) !== undefined);
}

/** Whether there is a way through a script on which no other tag follows this fork. */
function canEndAlone(at: TextPosition, { paths, positionAt, tags }: StateAnalysis): boolean {
  const isUnfollowed = paths?.outputs.some((output) => {
    return output.kind === 'forks' && output.next === null && comparePositions(positionAt(output.at), at) === 0;
  });
  // What hangs on how many forks there were comes after them.
  return isUnfollowed === true && !tags.some((other) => other.name === 'goto' && comparePositions(other.at, at) > 0);
}
