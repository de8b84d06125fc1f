import { displayFileProblem, readDisplayFiles, readUploadRules, timeoutProblem, uploadProblem } from '../ask.ts';
import { choicesProblem, readChoices } from '../choices.ts';
import { TAG_ATTRIBUTES } from '../tags/tag.ts';
import { parseDurationMs } from '../text/duration.ts';
import type { Transition } from './transition.ts';

/** `<ask>`: waits for a person; the answer goes to `next`, in the same conversation. */
export const ask: Transition = {
  body: 'text',
  attributes: ['next', ...TAG_ATTRIBUTES.ask],
  required: ['next'],
  variables: false,
  findProblem({ attributes, body }) {
    if (body === '') return 'the question is empty';
    const files = readDisplayFiles(attributes.display_files).map(displayFileProblem);
    return (
      timeoutProblem(attributes) ??
      choicesProblem(attributes) ??
      files.find((each) => each !== undefined) ??
      uploadProblem(attributes)
    );
  },
  follow: (at, { body, next, own }) => ({
    kind: 'ask',
    question: {
      text: body,
      next: next ?? at.state,
      timeoutMs: own.timeout === undefined ? null : (parseDurationMs(own.timeout.trim()) ?? null),
      timeoutNext: own.timeout_next ?? null,
      displayFiles: readDisplayFiles(own.display_files),
      uploads: readUploadRules(own),
      choices: readChoices(own),
      permission: null,
    },
  }),
};
