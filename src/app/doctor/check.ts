import type { Options } from '../../core/options/options.ts';
import type { ClaudeCode } from '../../turns/claude/find-claude.ts';

/** Where workflows are to be run, and with which options. */
export interface HealthCheckContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The options of the config file, or the defaults if it is wrong. */
  readonly options: Options;
  /** Finds Claude Code, or throws a RaymondError. */
  readonly findClaude: () => Promise<ClaudeCode>;
  /** True if Claude may be sent a prompt, which costs money. */
  readonly ask: boolean;
  /** Checks the database that holds the runs; null for runs in files. */
  readonly checkDatabase: (() => Promise<HealthCheckResult>) | null;
}

/** The result of a check. An `error` keeps runs from working, a `warning` does not; `skipped` was not checked. */
export interface HealthCheckResult {
  readonly level: 'ok' | 'warning' | 'error' | 'skipped';
  readonly message: string;
  /** The remedy. */
  readonly remedy?: string;
}

/** Checks one thing; null if there is nothing to check on this machine. */
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
export const skippedResult = (message: string, remedy?: string): HealthCheckResult => ({
  level: 'skipped',
  message,
  ...(remedy !== undefined && remedy !== '' && { remedy }),
});
