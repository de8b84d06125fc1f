import type { FailureKind } from '../../core/failure.ts';

/** What a failure of a Claude turn means to the user, and what he can do about it. */
const SENTENCES: Record<FailureKind, (said: string) => string> = {
  transient: (said) => `Claude Code could not finish the turn: ${said}`,
  timeout: (said) => `Claude Code was ended: ${said} A longer \`timeout\` gives it more time.`,
  usage_limit: (said) => `Claude's usage limit is reached: ${said}`,
  authentication: (said) =>
    `Claude Code could not log in: ${said} Log in with \`claude /login\`, or set a valid ANTHROPIC_API_KEY, then resume the run.`,
  billing: (said) => `Claude's account cannot pay: ${said} Add credit or fix the billing, then resume the run.`,
  model: (said) => `The model cannot be used: ${said} Choose another \`model\`, then resume the run.`,
  invalid_request: (said) =>
    `Claude Code or its API refused the request: ${said} Correct the state's settings or the prompt, then resume the run.`,
  prompt_too_long: (said) =>
    `The conversation does not fit into the model's context: ${said} Shorten the prompt, or reach the state by <reset> or <function>, then resume the run.`,
  refusal: (said) => `Claude declined to answer: ${said} Rephrase the prompt or choose another \`model\`.`,
  max_turns: (said) => `Claude Code reached its limit of steps: ${said} Give the state a smaller task.`,
  budget: (said) => `The turn used up the budget of the run: ${said} Resume it with a higher \`--budget\`.`,
  session_lost: (said) => `The conversation to be resumed is gone: ${said}`,
  script: (said) => said,
  interrupted: (said) => said,
  lost: () => 'Claude Code was no longer running when the run was taken up again.',
  stopped: () => 'The turn was ended because the run was stopped.',
};

const MOST_SAID = 400;

/** A sentence for the user that names what happened, in Claude Code's words, and what to do. */
export const explain = (kind: FailureKind, said: string): string => SENTENCES[kind](sentence(said));

/** In one line, not too long, and with an end. */
function sentence(said: string): string {
  const line = said.replace(/\s+/g, ' ').trim();
  const short = line.length > MOST_SAID ? `${line.slice(0, MOST_SAID)}…` : line;
  return short === '' || /[.!?…]$/.test(short) ? short : `${short}.`;
}
