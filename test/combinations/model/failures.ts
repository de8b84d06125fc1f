import type { Outcome } from '../case.ts';
import type { ModelAgent } from './model-agent.ts';
import { Mismatch, type RunModel } from './run-model.ts';

/** What a message about each outcome says, for a prompt and for a script. */
const WORDS: Readonly<Record<Outcome, readonly [prompt: RegExp, script: RegExp]>> = {
  error: [/./, /exit code \d|its evaluator/],
  timeout: [/no output for too long/, /no output for too long/],
  denied: [/Bash\(rm\) was not permitted/, /./],
  too_long: [/too long/i, /./],
  no_tag: [/no valid answer after \d reminder/, /no next step is found in its output/],
  stuck: [/no progress in \d+ visits in a row/, /no progress in \d+ visits in a row/],
  max_visits: [/as often as max_visits allows/, /as often as max_visits allows/],
};

/**
 * Compares the message of a failed agent or of a guard with what has happened; `tries` is how often the state was tried, if it could
 * be tried again.
 */
export function checkFailure(
  model: RunModel,
  agent: ModelAgent,
  outcome: Outcome,
  tries: number | null,
): (message: unknown) => void {
  const { state, evaluation } = agent;
  const subject = evaluation === null ? state : `${state}: its evaluator ${model.fileOf(agent)}`;
  const words = WORDS[outcome][model.isPromptTurn(agent) ? 0 : 1];
  const counted = tries === null ? null : `(tried ${tries} ${tries === 1 ? 'time' : 'times'})`;
  return (message) => {
    const text = String(message);
    if (!text.startsWith(subject)) throw new Mismatch(`it should be about ${subject}: ${text}`);
    if (!words.test(text)) throw new Mismatch(`it should say ${words}: ${text}`);
    if (counted !== null && !text.includes(counted)) throw new Mismatch(`it should say ${counted}: ${text}`);
    if (counted === null && text.includes('(tried ')) throw new Mismatch(`it could not be tried again: ${text}`);
  };
}
