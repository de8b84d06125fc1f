import { relative, resolve } from 'node:path';
import { parseBackend } from '../core/options/option-types.ts';
import type { Options } from '../core/options/options.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { Backend } from '../turns/backend.ts';
import { type ClaudeCode, findClaude } from '../turns/claude/find-claude.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import { hasPrompts, type Workflow } from '../workflow/workflow.ts';

/** Creates the backend that the options of a run ask for. */
export interface BackendFactory {
  /** Looks for the programs that the backend needs, or throws a RaymondError that says what to do. */
  readonly checkAvailable: () => Promise<unknown>;
  readonly create: (context: TurnContext) => Promise<Backend>;
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
      const create = async (context: TurnContext): Promise<Backend> =>
        new (await import('../turns/claude/backend.ts')).ClaudeBackend(context, find);
      const isNeeded = hasPrompts(workflow);
      return {
        checkAvailable: find,
        create: async (context) => (isNeeded ? create(context) : defer(() => create(context))),
      };
    }
    case 'replay': {
      const path = resolve(backend.file);
      const { openScenario } = await import('../scenario/read-scenario.ts');
      const { ReplayBackend } = await import('../turns/replay/backend.ts');
      const scenario = openScenario(path, await workflow.scopes(), relativeIfInside(path));
      const fast = env.RAYMOND_REPLAY === 'fast';
      return {
        checkAvailable: async () => {},
        create: async (context) => new ReplayBackend({ ...context, scenario, fast }),
      };
    }
    case undefined:
      throw new RaymondError(`the agent must be claude or replay:FILE, not \`${options.agent}\``, {
        exitCode: EXIT.usage,
      });
  }
}

/** A backend that is created when it has its first turn: a workflow of scripts may get a prompt while it runs. */
function defer(create: () => Promise<Backend>): Backend {
  let created: Backend | undefined;
  let creating: Promise<Backend> | undefined;
  const load = async (): Promise<Backend> => {
    creating ??= create();
    created = await creating;
    return created;
  };
  const deferred: Required<Omit<Backend, 'waitForAnswer' | 'scriptRunnerFor'>> = {
    prepare: async (...args) => (await load()).prepare(...args),
    sessionFor: (turn) => created?.sessionFor?.(turn),
    take: async (...args) => (await load()).take(...args),
    release: (run) => created?.release?.(run),
    canReach: (agent) => created?.canReach?.(agent) ?? false,
    say: (...args) => created?.say?.(...args),
    decide: (...args) => created?.decide?.(...args),
    park: (agent) => created?.park?.(agent),
    interrupt: (agent) => created?.interrupt?.(agent) ?? false,
    close: async () => created?.close?.(),
  };
  return deferred;
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
