import type { Options } from '../../core/options.ts';
import type { ClaudeCode } from '../../turns/claude/find-claude.ts';

/** What is looked at: where somebody wants to run workflows, and with what. */
export interface HealthCheckContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** As the config file says them, or the defaults if it is wrong. */
  readonly options: Options;
  /** Finds Claude Code, or throws a RaymondError. */
  readonly findClaude: () => Promise<ClaudeCode>;
  /** Whether Claude may be asked something, which costs money. */
  readonly ask: boolean;
}

/** What a check found. An `error` keeps runs from working, a `warning` does not; `skipped` is what was not looked at. */
export interface HealthCheckResult {
  readonly level: 'ok' | 'warning' | 'error' | 'skipped';
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
}

/** Looks at one thing. Null where there is nothing to look at. */
export type HealthCheck = (context: HealthCheckContext) => Promise<HealthCheckResult | null>;

/** A result without a problem. */
export const okResult = (message: string): HealthCheckResult => ({ level: 'ok', message });
/** A problem that does not keep runs from working. */
export const warningResult = (message: string, remedy: string): HealthCheckResult => ({
  level: 'warning',
  message,
  remedy,
});
/** A problem that keeps runs from working. */
export const errorResult = (message: string, remedy: string): HealthCheckResult => ({
  level: 'error',
  message,
  remedy,
});
/** A check that was not made. */
export const skippedResult = (message: string): HealthCheckResult => ({ level: 'skipped', message });
