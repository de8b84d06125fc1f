import { findForkContinuations } from '../../graph/edges.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { type BuiltInAttribute, isBuiltInAttribute, type Tag } from '../../language/tags/tag.ts';
import { nearest } from '../../language/text/nearest.ts';
import { comparePositions, type TextPosition } from '../../language/text/text-position.ts';
import { isContinuation, startsWorkers, type TagName, TRANSITIONS } from '../../language/transitions/index.ts';
import { defineTagRule } from '../rule.ts';

/** A call does not say where it returns to, a fork where its parent continues, or a question where its answer goes. */
export const missingAttribute = defineTagRule(
  { id: 'missing-attribute', level: 'error', supersedes: ['unreachable-state'] },
  ({ name, tag, at }, analysis) =>
    TRANSITIONS[name].required.flatMap((key) => {
      if ((tag.attributes[key] ?? '').trim() !== '' || findSwappedAttribute(name, tag) !== undefined) return [];
      const isContinued = findForkContinuations(analysis.tags).length > 0 && !canEndAlone(at, analysis);
      if (key === 'next' && startsWorkers(name) && isContinued) return [];
      const misspelt = findMisspeltAttribute(key, tag);
      const instead = misspelt === undefined ? '' : `, and \`${misspelt}\` is not one of its attributes`;
      const hint = misspelt === undefined ? hintFor(name, key) : `Write \`${key}\` instead of \`${misspelt}\`.`;
      // Another tag of the file may be meant as the goto beside a fork.
      return [
        {
          message: `\`${key}="${key === 'in' ? 'FILE' : 'STATE'}"\` is missing${instead}`,
          hint,
          causes: key === 'next' ? [analysis.file] : [],
        },
      ];
    }),
);

const HINTS: Partial<Record<BuiltInAttribute, string>> = {
  return: 'Add `return="STATE"` with the state that is to get the result.',
  next: 'Add `next="STATE"` with the state where the parent continues, or put one <goto> or <join> beside the forks.',
  in: 'Add `in="FILE"` with the file that has the items.',
};

const hintFor = (name: TagName, key: BuiltInAttribute): string =>
  name === 'ask' ? 'Add `next="STATE"` with the state that is to get the answer.' : (HINTS[key] ?? '');

/** Finds an attribute that is probably this one misspelt. */
export function findMisspeltAttribute(key: string, { name, attributes }: Tag): string | undefined {
  if ((attributes[key] ?? '').trim() !== '') return undefined;
  return Object.keys(attributes).find((each) => !isBuiltInAttribute(name, each) && nearest(each, [key]) !== undefined);
}

/** An attribute that names the state to continue in, on a tag that has another word for it. */
interface SwappedAttribute {
  readonly wrong: 'return' | 'next';
  readonly right: 'return' | 'next';
  readonly state: string;
}

/** Finds `next` on a call, or `return` on a fork, where the right one is not there. */
export function findSwappedAttribute(name: TagName, { attributes }: Tag): SwappedAttribute | undefined {
  const required: readonly BuiltInAttribute[] = TRANSITIONS[name].required;
  const right = required.find((key) => key === 'return' || key === 'next');
  const wrong = right === 'return' ? 'next' : 'return';
  const state = attributes[wrong]?.trim() ?? '';
  return right === undefined || state === '' || attributes[right] !== undefined ? undefined : { wrong, right, state };
}

/** True if there is a way through a script on which no other tag follows this fork. */
function canEndAlone(at: TextPosition, { paths, positionAt, tags }: StateAnalysis): boolean {
  const isUnfollowed = paths?.outputs.some((output) => {
    return output.kind === 'forks' && output.continuation === null && comparePositions(positionAt(output.at), at) === 0;
  });
  // A continuation that depends on how many forks there were comes after them.
  return (
    isUnfollowed === true && !tags.some((other) => isContinuation(other.name) && comparePositions(other.at, at) > 0)
  );
}
