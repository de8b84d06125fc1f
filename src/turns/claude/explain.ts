import type { FailureKind } from '../../core/failure.ts';

/** What a failure of a Claude turn means to the user, and what he can do about it. */
const FAILURE_MESSAGES: Record<FailureKind, (detail: string) => string> = {
  transient: (detail) => `Claude Code could not finish the turn: ${detail}`,
  timeout: (detail) => `Claude Code was ended: ${detail} A longer \`timeout\` gives it more time.`,
  usage_limit: (detail) => `Claude's usage limit is reached: ${detail}`,
  authentication: (detail) =>
    `Claude Code could not log in: ${detail} Log in with \`claude /login\`, or set a valid ANTHROPIC_API_KEY, then resume the run.`,
  billing: (detail) => `Claude's account cannot pay: ${detail} Add credit or fix the billing, then resume the run.`,
  model: (detail) => `The model cannot be used: ${detail} Choose another \`model\`, then resume the run.`,
  invalid_request: (detail) =>
    `Claude Code or its API refused the request: ${detail} Correct the state's settings or the prompt, then resume the run.`,
  prompt_too_long: (detail) =>
    `The conversation does not fit into the model's context: ${detail} Shorten the prompt, or reach the state by <reset> or <function>, then resume the run.`,
  refusal: (detail) => `Claude declined to answer: ${detail} Rephrase the prompt or choose another \`model\`.`,
  max_turns: (detail) => `Claude Code reached its limit of steps: ${detail} Give the state a smaller task.`,
  budget: (detail) => `The turn used up the budget of the run: ${detail} Resume it with a higher \`--budget\`.`,
  session_lost: (detail) => `The conversation to be resumed is gone: ${detail}`,
  script: (detail) => detail,
  interrupted: (detail) => detail,
  lost: () => 'Claude Code was no longer running when the run was taken up again.',
  stopped: () => 'The turn was ended because the run was stopped.',
};

const MAX_DETAIL_CHARS = 400;

/** A sentence for the user that names what happened, in Claude Code's words, and what to do. */
export const explainFailure = (kind: FailureKind, detail: string): string => FAILURE_MESSAGES[kind](toSentence(detail));

/** In one line, not too long, and with an end. */
function toSentence(detail: string): string {
  const line = detail.replace(/\s+/g, ' ').trim();
  const short = line.length > MAX_DETAIL_CHARS ? `${line.slice(0, MAX_DETAIL_CHARS)}…` : line;
  return short === '' || /[.!?…]$/.test(short) ? short : `${short}.`;
}
