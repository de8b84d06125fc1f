import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import { microsToUsd } from '../../core/ledger.ts';
import type { Preference } from '../../core/position.ts';
import type { StateSettings } from '../../core/state.ts';
import { renderTemplate } from '../../core/template.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { type ClaudeVersion, isAtLeast } from './find-claude.ts';

/** All that one call of Claude Code depends on, but for its prompt. */
export interface ClaudeCall extends Preference {
  readonly session: SessionUse;
  /** What the user wants for the whole run; a state's own mode goes before both. */
  readonly permissionMode: string;
  readonly skipPermissions: boolean;
  readonly budgetMicros: number | null;
  readonly settings: StateSettings;
  /** Which Claude Code is called, if that is known. */
  readonly version: ClaudeVersion | null;
}

/** From this version on, a conversation keeps the system prompt of its first request unless told not to. */
const KEEPS_SYSTEM_PROMPT_SINCE: ClaudeVersion = [2, 1, 257];

/** The arguments of Claude Code for one turn. The prompt is not among them: it goes by stdin, which takes any text. */
export function claudeArguments(call: ClaudeCall): readonly string[] {
  const { model, effort, budgetMicros, settings } = call;
  return [
    '-p',
    ...['--output-format', 'stream-json', '--verbose'],
    ...sessionArguments(call.session),
    ...optionArguments('--model', model),
    ...optionArguments('--effort', effort),
    ...permissionArguments(call),
    ...optionArguments(
      '--max-budget-usd',
      budgetMicros === null ? null : String(microsToUsd(Math.max(1, budgetMicros))),
    ),
    ...optionArguments('--allowedTools', joinTools(settings.allowedTools)),
    ...optionArguments('--disallowedTools', joinTools(settings.disallowedTools)),
    ...systemPromptArguments(call),
  ];
}

/** A prompt as Claude Code will take it word for word, or null if it is blank: nothing would come of it. */
export function escapePrompt(text: string): string | null {
  if (text.trim() === '') return null;
  // What begins with a slash would be taken for a command.
  return text.startsWith('/') ? `\n${text}` : text;
}

function sessionArguments(session: SessionUse): readonly string[] {
  if (session.kind === 'new') return ['--session-id', session.id];
  if (session.kind === 'resume') return ['--resume', session.id];
  return ['--resume', session.from, '--fork-session', '--session-id', session.id];
}

function permissionArguments({ settings, permissionMode, skipPermissions }: ClaudeCall): readonly string[] {
  if (settings.permissionMode === null && skipPermissions) return ['--dangerously-skip-permissions'];
  return ['--permission-mode', settings.permissionMode ?? permissionMode];
}

/** What a state adds to the system prompt is for that state: it is said each time and must not stick. */
function systemPromptArguments({ settings, version }: ClaudeCall): readonly string[] {
  const { appendSystemPrompt } = settings;
  if (appendSystemPrompt === null || appendSystemPrompt === '') return [];
  const keepsSystemPrompt = version !== null && isAtLeast(version, KEEPS_SYSTEM_PROMPT_SINCE);
  return [
    '--append-system-prompt',
    appendSystemPrompt,
    ...(keepsSystemPrompt ? ['--system-prompt-snapshot', 'off'] : []),
  ];
}

const optionArguments = (name: string, value: string | null): readonly string[] =>
  value === null ? [] : [name, value];

const joinTools = (tools: readonly string[] | null): string | null =>
  tools === null || tools.length === 0 ? null : tools.join(',');

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
