import type { TagConflict } from '../../bash/path-outputs.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { implicitTag, namedStates } from '../../language/policy.ts';
import { formatPolicyTag } from '../../language/reminder.ts';
import { readTagMentions } from '../../language/tags/tag-mentions.ts';
import { WHOLE_FILE } from '../../language/text/text.ts';
import { startsWorkers } from '../../language/transitions/index.ts';
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

/** A script prints a tag and then fails. */
export const wastedTag = defineStateRule(
  { id: 'wasted-tag', level: 'warning', supersedes: ['unreachable-state'] },
  (analysis) =>
    (analysis.paths?.wastedTags ?? []).map(({ tag, end, by }) => {
      const { line } = analysis.positionAt(tag);
      const [how, hint] =
        by === 'exit'
          ? ['ends with an error here', 'Remove the exit code if the tag is intended; otherwise print no tag.']
          : ['ends with an error here if this is false', 'Write it as an `if`, or put `exit 0` after it.'];
      const message = `the script prints a tag on line ${line} and ${how}: the tag is then ignored, and the agent fails`;
      return { at: analysis.positionAt(end), message, hint };
    }),
);

/** A state makes its only transition even if the agent does not say it. */
export const implicitTransition = defineStateRule(
  { id: 'implicit-transition', level: 'info' },
  (analysis, { graph }) => {
    const { names } = analysis;
    const { policy } = analysis.source.state.rules;
    const [entry] = policy;
    // A script has to print its tag.
    if (analysis.kind === 'script') return [];
    if (analysis.broken || entry === undefined || implicitTag(policy) === undefined) return [];
    if (graph.mereEvaluators.has(analysis.file)) return [];
    if (namedStates(entry).some(([, name]) => names.resolve(name).kind !== 'found')) return [];
    const message = `\`${formatPolicyTag(entry)}\` is taken even if the agent does not say it: it is the only transition here`;
    const worker =
      ' One worker starts, with only the variables that the `allowed_transitions` give; for more, the prompt has to ask for the tags.';
    const hint = `The prompt does not have to ask for a tag; it only has to say when to stop.${startsWorkers(entry.tag) ? worker : ''}`;
    return [{ at: analysis.source.entries[0]?.at ?? WHOLE_FILE, message, hint }];
  },
);
