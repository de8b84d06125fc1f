import { createHash } from 'node:crypto';
import type { KeyedCommand } from '../../conversations/protocol.ts';
import { choosePermissionMode, isSandboxed } from '../../core/options/sandbox-options.ts';
import type { SessionUse } from '../../core/run/agent.ts';
import { choosePreference, type PromptTurn } from '../../core/turns/due.ts';
import type { State } from '../../language/state.ts';
import { claudeEnvironment } from '../environment.ts';
import { sandboxRequest } from '../sandbox/request.ts';
import type { TurnContext } from '../turn-context.ts';
import { findDeniedTools } from './denied-tools.ts';
import type { ClaudeCode } from './find-claude.ts';
import { type ClaudeCall, claudeArguments } from './invocation.ts';

/** The facts that the command of a turn depends on. */
export interface CommandRequest {
  readonly context: TurnContext;
  readonly claude: ClaudeCode;
  readonly turn: PromptTurn;
  readonly session: SessionUse;
  readonly state: State;
  readonly staysOpen: boolean;
}

/** Builds the command of a turn from the settings of its state and of the run; its key leaves out session and cap. */
export function buildClaudeCommand({ context, claude, turn, session, state, staysOpen }: CommandRequest): KeyedCommand {
  const { options } = context;
  const { skipPermissions } = options;
  const { budgetMicros, taskFolder, runFolder, cwd } = turn;
  const isBoxed = isSandboxed(options, state);
  const chosen = choosePreference(turn.preference, state, options);
  const call: ClaudeCall = {
    ...chosen,
    // Left to itself, Claude Code may resume or fork a conversation with another model, and all of it is paid for again.
    model: chosen.model ?? turn.sessionModel,
    session,
    permissionMode: choosePermissionMode(options, state),
    skipPermissions,
    budgetMicros,
    folders: [taskFolder, runFolder].filter((folder) => folder !== null),
    settings: state,
    denied: findDeniedTools(context, turn, state),
    staysOpen,
    version: claude.version,
    isSandboxed: isBoxed,
  };
  const env = claudeEnvironment(context.environmentOf(turn.state));
  // The conversation's own model is what a process without one has anyway.
  const shared = claudeArguments({ ...call, ...chosen, session: { kind: 'new', id: '' }, budgetMicros: null });
  const key = createHash('sha256')
    .update(JSON.stringify([claude.path, shared, cwd, env, isBoxed]))
    .digest('hex');
  const box = isBoxed ? { sandbox: sandboxRequest(turn, session) } : {};
  return { file: claude.path, args: claudeArguments(call), cwd, env, key, ...box };
}
