import { statSync } from 'node:fs';
import { EXIT, RaymondError } from '../errors.ts';
import { findHandedFilesProblem, type Question, type UploadRules } from '../language/ask.ts';
import { chooseAnswer } from '../language/choices.ts';
import { parseDecision } from '../language/permission.ts';
import type { Uploads } from '../storage/answers.ts';
import { guessMime, UNKNOWN_MIME } from './mime.ts';

/** The files of an answer: on disk, or in memory as a form brings them. */
export type HandedFiles = readonly (
  | Uploads[number]
  | { readonly name: string; readonly mime: string; readonly content: Uint8Array }
)[];

/** An answer that a question does not take. */
export class AnswerRefused extends RaymondError {
  readonly reason: 'empty' | 'wrong_choice' | 'wrong_files' | 'too_large' | 'over' | 'missing';

  constructor(reason: AnswerRefused['reason'], message: string, { hint }: { readonly hint: string }) {
    super(message, { exitCode: EXIT.usage, hint });
    this.reason = reason;
  }
}

/** The text of an answer, with the labels as the question writes them; throws if the question offers choices and this is none of them. */
export function readAnswerText(
  { choices, permission }: Pick<Question, 'choices' | 'permission'>,
  text: string,
  hasFiles: boolean,
): string {
  if (permission !== null) {
    const decision = parseDecision(permission, text);
    if (decision === undefined)
      throw new AnswerRefused('wrong_choice', 'the answer was not given: it is no decision about a tool', {
        hint: 'Answer allow, always, deny, or deny with a reason. The question still waits.',
      });
    if (decision.kind === 'deny' || permission.form !== 'question' || choices === null) return text;
  }
  if (choices === null || (choices.other && hasFiles && text.trim() === '')) return text;
  const chosen = chooseAnswer(choices, text);
  if (chosen.kind === 'chosen') return chosen.text;
  throw new AnswerRefused('wrong_choice', `the answer was not given: ${chosen.message}`, {
    hint: 'A label may be written in any case, or as its number. The question still waits.',
  });
}

/** Throws if a question does not take these files, or asks for others. */
export function refuseFiles(rules: UploadRules | null, handed: HandedFiles): void {
  const files = handed.map((file) => ({
    name: file.name,
    size: 'path' in file ? statSync(file.path).size : file.content.length,
    mime: mimeOf(file),
  }));
  const problem = findHandedFilesProblem(rules, files);
  if (problem !== undefined)
    throw new AnswerRefused(
      problem.kind === 'too_large' ? 'too_large' : 'wrong_files',
      `the answer was not given: ${problem.message}`,
      {
        hint: 'The attributes of the question say which files it takes; `raymond asks --json` shows them. `--upload NAME=PATH` hands one over.',
      },
    );
}

/** The type that was told; a browser that knows none says so. Else the one that the name suggests. */
function mimeOf(file: HandedFiles[number]): string {
  if (file.mime !== undefined && file.mime !== '' && file.mime !== UNKNOWN_MIME) return file.mime;
  const guessed = 'path' in file ? guessMime(file.path) : UNKNOWN_MIME;
  return guessed === UNKNOWN_MIME ? guessMime(file.name) : guessed;
}
