import { type AnswerProblem, answerProblem } from '../../language/problem.ts';
import { memoize } from '../../language/text/memoize.ts';
import type { TurnAnswer } from '../answers/looked-up.ts';
import type { Agent } from './agent.ts';
import type { Step } from './event.ts';

/** A run is saved as one JSON text, and a step of it as another; no text can have more than about 536 million characters. */
const MAX_SAVED_CHARS = 400_000_000;

/** Smaller answers do not fill a run, whose ended agents are archived. */
const MIN_LARGE_CHARS = 16 * 1024;

/** Explains why a step cannot be made: with the texts of its answer the run could not be saved any more. */
export function findSizeProblem(
  answer: TurnAnswer,
  { run, events }: Step,
  maxChars = MAX_SAVED_CHARS,
): AnswerProblem | undefined {
  if (!hasLargeText(answer)) return undefined;
  let left = maxChars;
  for (const part of [...events, ...run.agents]) {
    left -= savedChars(part);
    if (left < 0)
      return answerProblem(
        'too_large',
        `the results, inputs and variables of the run would have more than ${Math.round(maxChars / 1e6)} MB together: large texts belong in files`,
      );
  }
  return undefined;
}

const hasLargeText = ({ text, files = {} }: TurnAnswer): boolean =>
  text.length >= MIN_LARGE_CHARS ||
  Object.values(files).some((file) => 'text' in file && file.text.length >= MIN_LARGE_CHARS);

/** Agents that a step leaves alone stay the same objects, so that each is measured once. */
const savedChars = memoize((part: Agent | Step['events'][number]): number => {
  try {
    return JSON.stringify(part).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
});
