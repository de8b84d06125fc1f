import { statSync } from 'node:fs';
import { findHandedFilesProblem, type UploadRules } from '../core/ask.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { Uploads } from '../store/answer-file.ts';
import { guessMime } from './mime.ts';

/** Throws if a question does not take these files, or asks for others. */
export function refuseFiles(rules: UploadRules | null, uploads: Uploads): void {
  const files = uploads.map(({ name, path }) => ({ name, size: statSync(path).size, mime: guessMime(name) }));
  const problem = findHandedFilesProblem(rules, files);
  if (problem !== undefined)
    throw new RaymondError(`the answer was not given: ${problem.message}`, {
      exitCode: EXIT.usage,
      hint: 'The attributes of the question say which files it takes; `raymond asks --json` shows them. `--upload NAME=PATH` hands one over.',
    });
}
