import type { ClaudeTurn } from '../../core/due.ts';
import { renderTemplate } from '../../core/template.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { escapePrompt } from './argv.ts';

const CONTINUE_PROMPT =
  'You were interrupted in the middle of your answer. Go on from where you stopped; what is already done need not be done again. End with the tag that your task asks for.';

/** What a turn says to Claude Code, and what its author should know about it. */
export function renderPrompt(
  turn: ClaudeTurn,
  text: string,
): { readonly stdin: string; readonly warnings: readonly string[] } {
  const { prompt, state } = turn;
  if (prompt.kind !== 'state')
    return { stdin: toStdin(prompt.kind === 'reminder' ? prompt.text : CONTINUE_PROMPT, state), warnings: [] };
  const { text: rendered, unknown } = renderTemplate(text, turn.variables);
  return { stdin: toStdin(rendered, state), warnings: unknown.map((name) => `${state}: {{${name}}} is not set`) };
}

function toStdin(text: string, state: string): string {
  const stdin = escapePrompt(text);
  if (stdin === null) {
    const message = `${state}: The prompt is empty. Write into it what is to be done, then resume the run.`;
    throw new RaymondError(message, { exitCode: EXIT.invalid });
  }
  return stdin;
}
