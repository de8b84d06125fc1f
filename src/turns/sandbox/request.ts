import type { SessionUse } from '../../core/run/agent.ts';
import type { PromptTurn, ScriptTurn } from '../../core/turns/due.ts';
import type { SandboxRequest } from '../../process/sandbox.ts';
import type { TurnContext } from '../turn-context.ts';

/** The facts of a turn that its sandbox depends on. */
export function sandboxRequest(turn: PromptTurn | ScriptTurn, session?: SessionUse): SandboxRequest {
  const { kind, agent, taskFolder, runFolder } = turn;
  return {
    kind: kind === 'script' ? 'script' : 'prompt',
    agent,
    folders: [taskFolder, runFolder].filter((folder) => folder !== null),
    sessions:
      session === undefined || session.kind === 'new' ? [] : [session.kind === 'fork' ? session.from : session.id],
  };
}

/** Tells the author which hosts a sandboxed turn did not reach. */
export function warnOfRefusedHosts(
  { sandboxes, warn }: Pick<TurnContext, 'sandboxes' | 'warn'>,
  turn: PromptTurn | ScriptTurn,
): void {
  const hosts = sandboxes?.takeRefused(turn.agent) ?? [];
  if (hosts.length === 0) return;
  const flags = hosts.map((host) => `--sandbox-host ${host.replace(/:(?:80|443)$/, '')}`).join(' ');
  warn(turn, `the sandbox let it not reach ${hosts.join(', ')}; ${flags} would`);
}
