import type pg from 'pg';
import { EXIT, errorCodeOf, RaymondError } from '../../errors.ts';

/** The version of DBOS that Raymond is written and tested for. */
const DBOS_VERSION = '5.3.0';

/** Loads the driver of PostgreSQL, which is installed only by those who use a database. */
export const loadPg = async (): Promise<typeof pg> =>
  (await import('pg').catch((cause) => Promise.reject(explainMissing('pg', cause)))).default;

/** Explains that a package is missing which only databases need; any other error stays as it is. */
export function explainMissing(name: string, cause: unknown): unknown {
  if (!errorCodeOf(cause).endsWith('MODULE_NOT_FOUND')) return cause;
  return new RaymondError(`Runs on a database need the package ${name}, which is not installed.`, {
    exitCode: EXIT.usage,
    hint: `Install it beside Raymond: npm install -g pg @dbos-inc/dbos-sdk@${DBOS_VERSION}`,
    cause,
  });
}
