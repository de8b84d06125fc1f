import type { TagConflict } from '../../bash/path-outputs.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { readTagMentions } from '../../language/tags/tag-mentions.ts';
import { defineStateRule, type RuleFinding } from '../rule.ts';

/** A script can print two tags that exclude each other, or a prompt shows two such forks side by side. */
export const severalTags = defineStateRule(
  { id: 'several-tags', level: 'warning', supersedes: ['missing-attribute', 'unreachable-state'] },
  (analysis) => [
    ...(analysis.paths?.outputs ?? []).flatMap((output, _, all): Omit<RuleFinding, 'file'>[] => {
      if (output.kind !== 'conflict') return [];
      const first = analysis.positionAt(output.first).line;
      const always = output.reason !== 'repeated-in-loop' && all.every(({ kind }) => kind === 'conflict');
      const text = MESSAGES[output.reason](first, always ? 'prints' : 'can print');
      return [{ at: analysis.positionAt(output.second), ...text, level: always ? 'error' : 'warning' }];
    }),
    ...findDisagreeingForks(analysis),
  ],
);

/** Finds neighboring forks of a prompt with different `next`; forks with words between them may be alternatives. */
function findDisagreeingForks(analysis: StateAnalysis): readonly Omit<RuleFinding, 'file'>[] {
  if (analysis.kind !== 'prompt') return [];
  const { text } = analysis.source.state;
  // Tags that do not count, because the transition is forced, do not disagree either.
  const { tags } = analysis.tags.length === 0 ? { tags: [] } : readTagMentions(text);
  return tags.flatMap((second, index): Omit<RuleFinding, 'file'>[] => {
    const first = tags[index - 1];
    if (first === undefined || !ONE_FORK.test(text.slice(first.offset, second.offset))) return [];
    const [one, other] = [first, second].map(({ tag }) => analysis.names.fileOf(tag.attributes.next ?? ''));
    if (second.name !== 'fork' || one === undefined || other === undefined || one === other) return [];
    const { line } = analysis.positionAt(first.offset);
    return [{ at: analysis.positionAt(second.offset), ...MESSAGES['different-next'](line, '') }];
  });
}

const ONE_FORK = /^<fork\b[^>]*>[^<]*<\/fork\s*>\s*$/i;

/** The messages by reason; `line` is that of the first tag, `prints` is "prints" or "can print". */
const MESSAGES: Readonly<
  Record<TagConflict['reason'], (line: number, prints: string) => { message: string; hint: string }>
> = {
  'two-tags': (line, prints) => ({
    message: `the script ${prints} this tag after the one on line ${line}: an answer with two transitions is an error`,
    hint: 'Put an `exit` after the first one, or an `else` between them.',
  }),
  'tag-beside-forks': (line, prints) => ({
    message: `the script ${prints} this tag together with the one on line ${line}: beside forks there can only be a <goto> or a <join>`,
    hint: 'Do this in the state where the parent continues, or put an `exit` after the first tag.',
  }),
  'different-next': (line) => ({
    message: `this tag makes the parent continue in another state than the one on line ${line}: all of them must name the same state`,
    hint: 'Give all of them the same `next`, and a <goto> or <join> beside them the same state.',
  }),
  'repeated-in-loop': () => ({
    message: 'the loop prints a tag in every iteration, and not always the same one: only one is permitted',
    hint: 'Leave the loop after the tag with `break` or `exit`, or print it after the loop.',
  }),
};
