import { createHash } from 'node:crypto';
import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import { choosePreference } from '../../core/preference.ts';
import type { State } from '../../core/state.ts';
import type { ProcessCommand } from '../../process/command.ts';
import { claudeEnvironment } from '../environment.ts';
import type { TurnContext } from '../turn-context.ts';
import type { ClaudeCode } from './find-claude.ts';
import { type ClaudeCall, claudeArguments } from './invocation.ts';

/** What the command of a turn depends on. */
export interface CommandRequest {
  readonly context: TurnContext;
  readonly claude: ClaudeCode;
  readonly turn: ClaudeTurn;
  readonly session: SessionUse;
  readonly state: State;
  readonly staysOpen: boolean;
}

/** The command of a turn, with a key that is the same for turns whose commands differ in conversation and cap only. */
export interface ClaudeCommand extends ProcessCommand {
  readonly key: string;
}

/** Builds the command of a turn from the settings of its state and of the run. */
export function buildClaudeCommand({
  context,
  claude,
  turn,
  session,
  state,
  staysOpen,
}: CommandRequest): ClaudeCommand {
  const { options } = context;
  const { permissionMode, skipPermissions } = options;
  const { budgetMicros, taskFolder, runFolder, cwd } = turn;
  const call: ClaudeCall = {
    ...choosePreference(turn.preference, state, options),
    session,
    permissionMode,
    skipPermissions,
    budgetMicros,
    folders: [taskFolder, runFolder].filter((folder) => folder !== null),
    settings: state,
    staysOpen,
    version: claude.version,
  };
  const env = claudeEnvironment(context.environmentOf(turn.state));
  const shared = claudeArguments({ ...call, session: { kind: 'new', id: '' }, budgetMicros: null });
  const key = createHash('sha256')
    .update(JSON.stringify([claude.path, shared, cwd, env]))
    .digest('hex');
  return { file: claude.path, args: claudeArguments(call), cwd, env, key };
}
