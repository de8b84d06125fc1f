import { relative, resolve } from 'node:path';
import { parseBackend } from '../core/option-types.ts';
import type { Options } from '../core/options.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { openScenario } from '../scenario/read-scenario.ts';
import type { Backend } from '../turns/backend.ts';
import { ClaudeBackend } from '../turns/claude/backend.ts';
import { type ClaudeCode, findClaude } from '../turns/claude/find-claude.ts';
import { ReplayBackend } from '../turns/replay/backend.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import type { Workflow } from '../workflow/workflow.ts';

/** Creates the backend that the options of a run ask for. */
export interface BackendFactory {
  /** Looks for the programs that the backend needs, or throws a RaymondError that says what to do. */
  readonly checkAvailable: () => Promise<unknown>;
  readonly create: (context: TurnContext) => Backend;
}

/** Chooses the backend of a run; a file of canned answers is read and checked at once. */
export async function chooseBackend(
  options: Options,
  env: NodeJS.ProcessEnv,
  workflow: Workflow,
): Promise<BackendFactory> {
  const backend = parseBackend(options.agent);
  switch (backend?.kind) {
    case 'claude': {
      const find = createClaudeFinder(options, env);
      return { checkAvailable: find, create: (context) => new ClaudeBackend(context, find) };
    }
    case 'replay': {
      const path = resolve(backend.file);
      const scenario = openScenario(path, await workflow.scopes(), relativeIfInside(path));
      const fast = env.RAYMOND_REPLAY === 'fast';
      return { checkAvailable: async () => {}, create: (context) => new ReplayBackend({ ...context, scenario, fast }) };
    }
    case undefined:
      throw new RaymondError(`the agent must be claude or replay:FILE, not \`${options.agent}\``, {
        exitCode: EXIT.usage,
      });
  }
}

/** A path relative to the current folder, if it lies inside. */
function relativeIfInside(path: string): string {
  const relativePath = relative(process.cwd(), path);
  return /^\.\.([/\\]|$)/.test(relativePath) || resolve(relativePath) !== path ? path : relativePath;
}

/** Creates a function that looks for Claude Code once, when it is first called. */
export function createClaudeFinder({ claude }: Options, env: NodeJS.ProcessEnv): () => Promise<ClaudeCode> {
  let found: Promise<ClaudeCode> | undefined;
  return () => {
    found ??= findClaude(claude, env);
    return found;
  };
}
