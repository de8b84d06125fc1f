import { relative, resolve } from 'node:path';
import type { Options } from '../core/run.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { openScenario } from '../scenario/read.ts';
import type { Backend } from '../turns/backend.ts';
import { ClaudeBackend } from '../turns/claude/backend.ts';
import { configDir } from '../turns/claude/session-file.ts';
import { REAL_TIME } from '../turns/clock.ts';
import type { Desk } from '../turns/desk.ts';
import { ReplayBackend } from '../turns/replay/backend.ts';
import type { Workflow } from '../workflow/load.ts';
import { claudeFinder } from './claude.ts';

/** Who answers the prompts of a run, as its options say it. */
export interface Answerer {
  /** Looks for what it needs, or throws a RaymondError that says what to do. */
  readonly find: () => Promise<unknown>;
  readonly backend: (desk: Desk, kill: AbortSignal) => Backend;
}

const REPLAY = 'replay:';

/** Finds out who answers; a file of canned answers is read and checked at once. */
export async function answererOf(options: Options, env: NodeJS.ProcessEnv, workflow: Workflow): Promise<Answerer> {
  const { agent } = options;
  if (agent === 'claude') {
    const find = claudeFinder(options, env);
    const config = configDir(env);
    return { find, backend: (desk, kill) => new ClaudeBackend({ desk, options, env, config, find, kill }) };
  }
  if (!agent.startsWith(REPLAY)) {
    throw new RaymondError(`the agent must be claude or replay:FILE, not \`${agent}\``, { exitCode: EXIT.usage });
  }
  const path = resolve(agent.slice(REPLAY.length));
  const scenario = openScenario(path, await workflow.scope(), shortened(path));
  const fast = env.RAYMOND_REPLAY === 'fast';
  return {
    find: async () => {},
    backend: (desk, kill) => new ReplayBackend({ desk, scenario, fast, kill, clock: REAL_TIME }),
  };
}

/** A path as it is seen from here, if it is inside. */
function shortened(path: string): string {
  const short = relative(process.cwd(), path);
  return /^\.\.([/\\]|$)/.test(short) || resolve(short) !== path ? path : short;
}
