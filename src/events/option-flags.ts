import { microsToUsd } from '../core/ledger.ts';
import type { Options } from '../core/run.ts';
import { sanitizeLine } from './sanitize.ts';

type FlagFormatters = { readonly [Key in Exclude<keyof Options, 'variables'>]: (value: Options[Key]) => string | null };

const FLAG_FORMATTERS: FlagFormatters = {
  model: (name) => name && `--model ${quoteValue(name)}`,
  effort: (level) => level && `--effort ${quoteValue(level)}`,
  budgetMicros: (micros) => `--budget ${micros === null ? 0 : microsToUsd(micros)}`,
  maxIterations: (max) => `--max-iterations ${max ?? 0}`,
  parallel: (max) => `--parallel ${max ?? 0}`,
  retries: (max) => `--retries ${max}`,
  reminders: (max) => `reminders = ${max}`,
  resetStack: (mode) => `reset_stack = ${mode}`,
  timeoutMs: (ms) => `--timeout ${(ms ?? 0) / 1000}`,
  permissionMode: (mode) => `--permission-mode ${quoteValue(mode)}`,
  skipPermissions: (skip) => (skip ? '--dangerously-skip-permissions' : 'no longer --dangerously-skip-permissions'),
  wait: (wait) => (wait ? 'no longer --no-wait' : '--no-wait'),
  debug: (debug) => (debug ? '--debug' : '--no-debug'),
  agent: (agent) => `--agent ${quoteValue(agent)}`,
  claude: (path) => path && `--claude ${quoteValue(path)}`,
};

/** The options that differ, as written on the command line, or in the config file if there is no flag for them. */
export function formatChangedFlags(before: Options, after: Options): readonly string[] {
  const flags = (Object.keys(FLAG_FORMATTERS) as (keyof FlagFormatters)[])
    .filter((key) => before[key] !== after[key])
    .flatMap((key) => (FLAG_FORMATTERS[key] as (value: unknown) => string | null)(after[key]) || []);
  const variables = Object.entries(after.variables)
    .filter(([name, value]) => before.variables[name] !== value)
    .map(([name, value]) => `--var ${quoteValue(`${name}=${value}`)}`);
  return [...flags, ...variables];
}

const MAX_VALUE_CHARS = 80;

/** A value quoted for a shell, shortened if it is long. */
function quoteValue(value: string): string {
  const plain = sanitizeLine(value);
  const short = plain.length > MAX_VALUE_CHARS ? `${plain.slice(0, MAX_VALUE_CHARS)}…` : plain;
  return /^[\w./:=,@%+-]+$/.test(short) ? short : `'${short}'`;
}
