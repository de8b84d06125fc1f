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
