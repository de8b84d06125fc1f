import { defineStateRule } from '../rule.ts';

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
