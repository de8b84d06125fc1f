import type { Options } from '../core/run.ts';
import { type ClaudeCode, findClaude } from '../turns/claude/find-claude.ts';

/** Looks for Claude Code once, when it is first needed. */
export function createClaudeFinder({ claude }: Options, env: NodeJS.ProcessEnv): () => Promise<ClaudeCode> {
  let found: Promise<ClaudeCode> | undefined;
  return () => {
    found ??= findClaude(claude, env);
    return found;
  };
}
