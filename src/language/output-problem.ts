import type { AnswerProblemKind } from './problem.ts';

/** Problems that somebody can solve outside of the answer, and how: a state may have been renamed, a folder removed. */
export const CURES: Partial<Record<AnswerProblemKind, string>> = {
  bad_state: 'once that is put right, a resume',
  no_folder: 'once that is put right, a resume',
  no_file: 'once that is put right, a resume',
  bad_workflow: 'once that is put right, a resume',
  unknown_workflow: 'a person accepts it with `raymond resume`, which',
  too_deep: '`resume` with a higher `--max-depth`',
  too_many_forks: '`resume` with a higher `--max-forks`',
  unchecked_result: 'once its file is correct, a resume',
};

const MAX_OUTPUT_CHARS = 1_000;
const MAX_OUTPUT_LINES = 5;

/** Adds the last lines of the output, so that the user sees what was printed instead of a tag. */
export function appendOutput(message: string, text: string): string {
  const end = text.slice(-MAX_OUTPUT_CHARS).trim();
  if (end === '') return 'it printed nothing';
  const lines = end.split('\n').filter((line) => line.trim() !== '');
  return `${message}; it printed:\n${lines.slice(-MAX_OUTPUT_LINES).join('\n')}`;
}
