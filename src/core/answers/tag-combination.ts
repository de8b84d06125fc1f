import { isSameState } from '../../language/policy.ts';
import { type AnswerProblem, answerProblem, shortenForMessage } from '../../language/problem.ts';
import type { Scope } from '../../language/state-names.ts';
import type { ResolvedTag } from '../../language/tags/permitted-tags.ts';
import type { Tag } from '../../language/tags/tag.ts';
import { listAnswerTags, quoteAnswerTag } from '../../language/tags/tag-mentions.ts';
import { isContinuation, startsWorkers } from '../../language/transitions/index.ts';
import { isInGroup } from '../joins/join.ts';

/** The problem of an answer that starts too many workers. */
export const tooManyWorkers = (count: number, maxForks: number): AnswerProblem =>
  answerProblem(
    'too_many_forks',
    `it starts ${count} workers, and one answer may start at most ${maxForks} (\`max_forks\`)`,
  );

/** The number of workers that the message of such a problem names; undefined for any other message. */
export function findWantedWorkers(message: string): number | undefined {
  const [, count] = /\bit starts (\d+) workers, and one answer may start at most \d+ /.exec(message) ?? [];
  return count === undefined ? undefined : Number(count);
}

/** Merges identical tags into one, except those that start workers: two identical forks start two of them. */
export function mergeDuplicateTags(tags: readonly Tag[]): readonly Tag[] {
  const seen = new Set<string>();
  return tags.filter((tag) => {
    const key = JSON.stringify([tag.name, tag.body, Object.entries(tag.attributes).sort()]);
    const isDuplicate = seen.has(key) && !startsWorkers(tag.name);
    seen.add(key);
    return !isDuplicate;
  });
}

/**
 * Accepts one tag, or any number that start workers and agree on where their parent continues, which one other tag may say:
 * each of them gets that as its `next`.
 */
export function checkTagCombination(
  tags: readonly Tag[],
  { scope, maxForks }: { readonly scope: Scope; readonly maxForks: number | null },
): readonly Tag[] | AnswerProblem {
  const forks = tags.filter(({ name }) => startsWorkers(name));
  const [otherTag, secondOtherTag] = tags.filter(({ name }) => !startsWorkers(name));
  if (tags.length === 0) return answerProblem('no_tag', 'it contains no tag');
  if (secondOtherTag !== undefined || (otherTag !== undefined && !isContinuation(otherTag.name) && forks.length > 0)) {
    return answerProblem('several_tags', `found ${tags.length} tags: ${listAnswerTags(tags)}`);
  }
  if (forks.length === 0) return tags;
  if (maxForks !== null && forks.length > maxForks) return tooManyWorkers(forks.length, maxForks);
  const continuations = [...forks.map((tag) => tag.attributes.next), otherTag?.body].filter((way) => way !== undefined);
  const [continuation = ''] = continuations;
  const conflicting = continuations.find(
    (each) => each.trim() !== continuation.trim() && !isSameState(each, continuation, scope),
  );
  if (conflicting !== undefined) {
    const message = `the forks do not agree on where their parent continues: \`${shortenForMessage(continuation)}\` or \`${shortenForMessage(conflicting)}\``;
    return answerProblem('several_tags', message);
  }
  const forksWithNext = forks.map((tag) =>
    continuation === '' ? tag : { ...tag, attributes: { ...tag.attributes, next: continuation } },
  );
  return otherTag === undefined ? forksWithNext : [...forksWithNext, otherTag];
}

/** Finds what is wrong with the number of workers: an answer starts too many of them, or waits for more than there are. */
export function findWorkerProblem(
  tags: readonly ResolvedTag[],
  {
    maxForks,
    openWorkers,
  }: { readonly maxForks: number | null; readonly openWorkers: (group: string | null) => number },
): AnswerProblem | undefined {
  const started = tags.filter(({ tag }) => startsWorkers(tag)).map(({ target }) => target);
  const countStarted = (group: string | null): number =>
    started.reduce((count, { variables, items }) => {
      const isOne = items === null && isInGroup(variables, group);
      return (
        count + (items?.filter((item) => isInGroup({ ...item.variables, ...variables }, group)).length ?? Number(isOne))
      );
    }, 0);
  if (maxForks !== null && countStarted(null) > maxForks) return tooManyWorkers(countStarted(null), maxForks);
  const joining = tags.find(({ target }) => target.join !== null);
  const terms = joining?.target.join;
  if (joining === undefined || terms == null || terms.wait === 'all') return undefined;
  const workers = countStarted(terms.group) + openWorkers(terms.group);
  if (workers === 0 || terms.wait <= workers) return undefined;
  const message = `${quoteAnswerTag(joining.written)}: it waits for ${terms.wait} workers, and there ${workers === 1 ? 'is' : 'are'} ${workers}`;
  return answerProblem('bad_attribute', message);
}
