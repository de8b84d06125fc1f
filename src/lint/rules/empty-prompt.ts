import { defineStateRule } from '../rule.ts';

/** A prompt is empty. */
export const emptyPrompt = defineStateRule(
  { id: 'empty-prompt', level: 'warning', supersedes: ['no-way-out'] },
  (analysis) => {
    if (analysis.kind !== 'prompt' || analysis.broken || analysis.source.state.text.trim() !== '') return [];
    const message = 'the prompt is empty: Claude Code is sent nothing';
    return [
      {
        at: analysis.source.origin?.bodyAt ?? { line: 1, column: 1 },
        message,
        hint: 'Write what is to be done below the frontmatter.',
      },
    ];
  },
);
