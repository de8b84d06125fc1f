/** The kinds of problems of an answer. Asking again can solve each of them. */
export type AnswerProblemKind =
  | 'no_tag'
  | 'several_tags'
  | 'too_many_forks'
  | 'unclosed_tag'
  | 'bad_state'
  | 'bad_workflow'
  | 'unknown_workflow'
  | 'missing_input'
  | 'too_deep'
  | 'too_large'
  | 'missing_attribute'
  | 'misplaced_attribute'
  | 'bad_attribute'
  | 'no_folder'
  | 'no_file'
  | 'not_permitted'
  | 'bad_result'
  | 'unchecked_result'
  | 'tools_denied';

/**
 * A problem of an answer. Such problems are expected, so they are values and not exceptions. The message has no full
 * stop.
 */
export interface AnswerProblem {
  readonly kind: AnswerProblemKind;
  readonly message: string;
}

/** Shortens a text from an answer or a file so that it can stand in a message. */
export const shortenForMessage = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Makes a problem. */
export const answerProblem = (kind: AnswerProblemKind, message: string): AnswerProblem => ({ kind, message });

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
