import { usdOf } from '../core/ledger.ts';
import type { Options } from '../core/run.ts';
import { oneLine } from './harmless.ts';

type Flags = { readonly [Key in Exclude<keyof Options, 'variables'>]: (value: Options[Key]) => string | null };

const FLAGS: Flags = {
  model: (name) => name && `--model ${quoted(name)}`,
  effort: (level) => level && `--effort ${quoted(level)}`,
  budgetMicros: (micros) => `--budget ${micros === null ? 0 : usdOf(micros)}`,
  maxIterations: (most) => `--max-iterations ${most ?? 0}`,
  parallel: (most) => `--parallel ${most ?? 0}`,
  retries: (most) => `--retries ${most}`,
  reminders: (most) => `reminders = ${most}`,
  resetStack: (how) => `reset_stack = ${how}`,
  timeoutMs: (ms) => `--timeout ${(ms ?? 0) / 1000}`,
  permissionMode: (mode) => `--permission-mode ${quoted(mode)}`,
  skipPermissions: (skip) => (skip ? '--dangerously-skip-permissions' : 'no longer --dangerously-skip-permissions'),
  wait: (wait) => (wait ? 'no longer --no-wait' : '--no-wait'),
  debug: (debug) => (debug ? '--debug' : '--no-debug'),
  agent: (who) => `--agent ${quoted(who)}`,
  claude: (path) => path && `--claude ${quoted(path)}`,
};

/** The options that differ, as they are written on the command line, or in the config file if they stand only there. */
export function changedFlags(before: Options, after: Options): readonly string[] {
  const flags = (Object.keys(FLAGS) as (keyof Flags)[])
    .filter((key) => before[key] !== after[key])
    .flatMap((key) => (FLAGS[key] as (value: unknown) => string | null)(after[key]) || []);
  const variables = Object.entries(after.variables)
    .filter(([name, value]) => before.variables[name] !== value)
    .map(([name, value]) => `--var ${quoted(`${name}=${value}`)}`);
  return [...flags, ...variables];
}

const LONGEST = 80;

/** A value as a shell would want it, and not too long. */
function quoted(value: string): string {
  const plain = oneLine(value);
  const short = plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
  return /^[\w./:=,@%+-]+$/.test(short) ? short : `'${short}'`;
}
