import type { ClaudeTurn } from '../../core/due.ts';
import { render } from '../../core/template.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { promptText } from './argv.ts';

const GO_ON =
  'You were interrupted in the middle of your answer. Go on from where you stopped; what is already done need not be done again. End with the tag that your task asks for.';

/** What a turn says to Claude Code, and what its author should know about it. */
export function promptOf(
  turn: ClaudeTurn,
  text: string,
): { readonly stdin: string; readonly warnings: readonly string[] } {
  const { prompt, state } = turn;
  if (prompt.kind !== 'state')
    return { stdin: stdinOf(prompt.kind === 'reminder' ? prompt.text : GO_ON, state), warnings: [] };
  const { text: rendered, unknown } = render(text, turn.variables);
  return { stdin: stdinOf(rendered, state), warnings: unknown.map((name) => `${state}: {{${name}}} is not set`) };
}

function stdinOf(text: string, state: string): string {
  const stdin = promptText(text);
  if (stdin === null) {
    const message = `${state}: The prompt is empty. Write into it what is to be done, then resume the run.`;
    throw new RaymondError(message, { exitCode: EXIT.invalid });
  }
  return stdin;
}
