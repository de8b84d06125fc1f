import { rulePerPage } from '../rule.ts';

/** A prompt has nothing to say. */
export const emptyPrompt = rulePerPage('empty-prompt', 'warning', (page) => {
  if (page.kind !== 'prompt' || page.broken || page.source.state.text.trim() !== '') return [];
  const message = 'the prompt is empty: Claude Code is sent nothing';
  return [
    { file: page.file, at: { line: 1, column: 1 }, message, hint: 'Write what is to be done below the frontmatter.' },
  ];
});
