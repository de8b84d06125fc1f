import type { SessionUse } from '../../core/run/agent.ts';
import { microsToUsd } from '../../core/run/ledger.ts';
import type { PromptTurn } from '../../core/turns/due.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import type { Preference } from '../../language/position.ts';
import type { StateSettings } from '../../language/state.ts';
import { renderTemplate } from '../../language/text/template.ts';
import { type ClaudeVersion, isAtLeast } from './find-claude.ts';

/** Everything that the arguments of one call of Claude Code depend on. */
export interface ClaudeCall extends Preference {
  readonly session: SessionUse;
  /** The mode of this state; `skipPermissions` goes before that of the run. */
  readonly permissionMode: string;
  readonly skipPermissions: boolean;
  readonly budgetMicros: number | null;
  /** Folders besides the working directory in which it may read and write. */
  readonly folders: readonly string[];
  readonly settings: StateSettings;
  /** Tools that it may not use, whatever the state says. */
  readonly denied?: readonly string[];
  /** True if it stays open and takes one prompt after the other, as lines of JSON. */
  readonly staysOpen?: boolean;
  /** True if it runs in a sandbox of ours, in which its own does not work. */
  readonly isSandboxed?: boolean;
  /** The version of Claude Code, if it is known. */
  readonly version: ClaudeVersion | null;
}

/** From this version on, a conversation keeps the system prompt of its first request unless that is switched off. */
const KEEPS_SYSTEM_PROMPT_SINCE: ClaudeVersion = [2, 1, 257];

/** The user may have installed Raymond's own plugin: with it, runs would start runs. */
const WITHOUT_OWN_PLUGIN = { enabledPlugins: { 'raymond@raymond': false } };

const settingsOf = ({ isSandboxed }: ClaudeCall): string =>
  JSON.stringify({ ...WITHOUT_OWN_PLUGIN, ...(isSandboxed === true && { sandbox: { enabled: false } }) });

/**
 * The arguments of Claude Code for one turn, or for several in one conversation. Prompts are not among them: they are passed by
 * stdin, which takes any text.
 */
export function claudeArguments(call: ClaudeCall): readonly string[] {
  const { model, effort, budgetMicros, settings } = call;
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    '--settings',
    settingsOf(call),
    ...(call.staysOpen === true ? ['--input-format', 'stream-json', '--replay-user-messages'] : []),
    ...sessionArguments(call.session),
    ...optionArguments('--model', model),
    ...optionArguments('--effort', effort),
    ...permissionArguments(call),
    ...optionArguments(
      '--max-budget-usd',
      budgetMicros === null ? null : String(microsToUsd(Math.max(1, budgetMicros))),
    ),
    ...optionArguments('--allowedTools', joinTools(settings.allowedTools)),
    ...deniedArguments(joinTools(settings.disallowedTools), call.denied ?? []),
    ...call.folders.flatMap((folder) => ['--add-dir', folder]),
    ...systemPromptArguments(call),
  ];
}

/** The line that ends the running turn of a conversation that stays open. */
export const interruptLine = (id: string): string =>
  JSON.stringify({ type: 'control_request', request_id: id, request: { subtype: 'interrupt' } });

/** A prompt as a line for a conversation that stays open. */
export const promptLine = (uuid: string, text: string): string =>
  JSON.stringify({
    type: 'user',
    uuid,
    parent_tool_use_id: null,
    message: { role: 'user', content: [{ type: 'text', text }] },
  });

/** Escapes a prompt so that Claude Code takes it literally; null if it is blank, because nothing would come of it. */
export function escapePrompt(text: string): string | null {
  if (text.trim() === '') return null;
  // Claude Code takes a text that begins with a slash for a command.
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

/** An addition to the system prompt is for one state only: it is passed each time and must not be kept. */
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

/** One argument each: the length of an argument is limited. */
function deniedArguments(ofState: string | null, denied: readonly string[]): readonly string[] {
  const tools = ofState === null ? denied : [ofState, ...denied];
  return tools.length === 0 ? [] : ['--disallowedTools', ...tools];
}

const joinTools = (tools: readonly string[] | null): string | null =>
  tools === null || tools.length === 0 ? null : tools.join(',');

const CONTINUE_PROMPT =
  'You were interrupted in the middle of your answer. Continue from where you stopped; what is already done need not be done again. End with the tag that your task asks for.';

const COMPACT_COMMAND = '/compact';

/** Renders the prompt of a turn; the warnings are for the author. */
export function renderPrompt(
  turn: Pick<PromptTurn, 'prompt' | 'state' | 'variables' | 'words'>,
  text: string,
): { readonly stdin: string; readonly warnings: readonly string[] } {
  if (turn.prompt.kind === 'said' && turn.words.length > 0)
    return { stdin: toStdin(turn.words.map((each) => each.text).join('\n\n'), turn.state), warnings: [] };
  const { stdin, warnings } = renderOwnPrompt(turn, text);
  const said = turn.words.map((each) => `${SAID_HEADING}\n\n${each.text}`);
  return { stdin: said.length === 0 ? stdin : [...said, '---', stdin].join('\n\n'), warnings };
}

/** Comes before the words of a person, in front of a prompt. */
const SAID_HEADING = 'A message from the person who follows your work:';

function renderOwnPrompt(
  turn: Pick<PromptTurn, 'prompt' | 'state' | 'variables'>,
  text: string,
): { readonly stdin: string; readonly warnings: readonly string[] } {
  const { prompt, state } = turn;
  // Not escaped: this one is meant as a command.
  if (prompt.kind === 'compact') return { stdin: COMPACT_COMMAND, warnings: [] };
  if (prompt.kind !== 'state')
    return { stdin: toStdin(prompt.kind === 'reminder' ? prompt.text : CONTINUE_PROMPT, state), warnings: [] };
  const { text: rendered, unknown } = renderTemplate(text.replaceAll('\r\n', '\n'), turn.variables);
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
