/** What can be wrong with an answer. Each of them can be put right by asking again. */
export type AnswerProblemKind =
  | 'no_tag'
  | 'several_tags'
  | 'unclosed_tag'
  | 'bad_state'
  | 'missing_attribute'
  | 'misplaced_attribute'
  | 'bad_attribute'
  | 'no_folder'
  | 'not_permitted'
  | 'tools_denied';

/** A protocol error: part of the game, so a value; its message is a sentence without its full stop. */
export interface AnswerProblem {
  readonly kind: AnswerProblemKind;
  readonly message: string;
}

/** A text of somebody else's, short enough to stand in a message. */
export const shortenForMessage = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

export const answerProblem = (kind: AnswerProblemKind, message: string): AnswerProblem => ({ kind, message });
