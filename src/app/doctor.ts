import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_OPTIONS, mergeOptions, type Options } from '../core/options/options.ts';
import { errorMessageOf, RaymondError } from '../errors.ts';
import { createClaudeFinder } from '../wiring/backend-factory.ts';
import {
  errorResult,
  type HealthCheck,
  type HealthCheckContext,
  type HealthCheckResult,
  warningResult,
} from './doctor/check.ts';
import { checkAnswer, checkClaudeCode, checkSignIn } from './doctor/claude.ts';
import { checkBash, checkGit, checkNode, checkProcessLimits, checkSandboxHere } from './doctor/machine.ts';
import {
  checkConfigFile,
  checkDiskSpace,
  checkPermissions,
  checkRaymondFolder,
  checkRuns,
} from './doctor/raymond-folder.ts';

export { type HealthCheckResult, okResult, warningResult } from './doctor/check.ts';

import { loadConfig } from './config/load-config.ts';
import { refuseForeignRaymondFolder } from './trust/foreign-folders.ts';

/** The result of one check, with its name. */
export interface DoctorResult extends HealthCheckResult {
  readonly name: string;
}

/** The checks to make. */
export interface DoctorRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The Claude Code to check; null for the one that a run would use. */
  readonly claude: string | null;
  readonly ask: boolean;
  readonly checkDatabase: HealthCheckContext['checkDatabase'];
}

/** All checks, in the order in which they are reported. A new check is a row here. */
const CHECKS: readonly (readonly [name: string, check: HealthCheck])[] = [
  ['Node', checkNode],
  ['Claude Code', checkClaudeCode],
  ['signed in', checkSignIn],
  ['answers', checkAnswer],
  ['bash', checkBash],
  ['git', checkGit],
  ['sandbox', checkSandboxHere],
  ['config', checkConfigFile],
  ['.raymond', checkRaymondFolder],
  ['rights', checkPermissions],
  ['disk', checkDiskSpace],
  ['limits', checkProcessLimits],
  ['runs', checkRuns],
  ['database', async ({ checkDatabase }) => checkDatabase?.() ?? null],
];

/** Longer than the timeout of any program: it is for disks that do not answer. */
const CHECK_TIMEOUT_MS = 100_000;

/**
 * Checks everything that a run needs, all at the same time. Yields the results in order, each as soon as it is known.
 */
export async function* runDoctor(request: DoctorRequest): AsyncGenerator<DoctorResult> {
  const options = chooseOptions(request);
  const context: HealthCheckContext = { ...request, options, findClaude: createClaudeFinder(options, request.env) };
  const pending = CHECKS.map(([name, check]) => [name, runCheckInTime(check, context)] as const);
  for (const [name, resultPromise] of pending) {
    const result = await resultPromise;
    if (result !== null) yield { name, ...result };
  }
}

/**
 * The options that a run would have. A mistake in a config file is reported by its own check. Settings that are not trusted,
 * and those of another user's folder, are left out, so that no program is run that a stranger has named.
 */
function chooseOptions({ cwd, env, claude }: DoctorRequest): Options {
  const overrides = claude === null ? {} : { claude };
  try {
    refuseForeignRaymondFolder(cwd, env);
    return mergeOptions(DEFAULT_OPTIONS, { ...loadConfig(cwd, env).options, ...overrides });
  } catch {
    return mergeOptions(DEFAULT_OPTIONS, overrides);
  }
}

async function runCheckInTime(check: HealthCheck, context: HealthCheckContext): Promise<HealthCheckResult | null> {
  const checkDone = new AbortController();
  const timeout = delay(CHECK_TIMEOUT_MS, null, { signal: checkDone.signal }).then(
    () => warningResult(`no answer within ${CHECK_TIMEOUT_MS / 1000} s`, 'Check that disks and network are reachable.'),
    () => null,
  );
  try {
    return await Promise.race([check(context), timeout]);
  } catch (error) {
    if (error instanceof RaymondError) return errorResult(error.message, error.hint ?? '');
    return errorResult(`this check failed: ${errorMessageOf(error)}`, '');
  } finally {
    checkDone.abort();
  }
}
