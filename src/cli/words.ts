import { parseArgs } from 'node:util';
import { microsOf } from '../core/ledger.ts';
import { didYouMean } from '../core/nearest.ts';
import { effortName, modelName } from '../core/preference.ts';
import type { Options } from '../core/run.ts';
import { variableProblem } from '../core/variables.ts';
import { EXIT, RaymondError } from '../errors.ts';

const FLAGS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
  resume: { type: 'string' },
  retry: { type: 'boolean' },
  'take-over': { type: 'boolean' },
  input: { type: 'string' },
  var: { type: 'string', multiple: true },
  budget: { type: 'string' },
  'max-iterations': { type: 'string' },
  model: { type: 'string' },
  effort: { type: 'string' },
  timeout: { type: 'string' },
  parallel: { type: 'string' },
  retries: { type: 'string' },
  'permission-mode': { type: 'string' },
  'dangerously-skip-permissions': { type: 'boolean' },
  'no-wait': { type: 'boolean' },
  'no-debug': { type: 'boolean' },
  debug: { type: 'boolean' },
  quiet: { type: 'boolean' },
  json: { type: 'boolean' },
  events: { type: 'boolean' },
  'run-id': { type: 'string' },
  claude: { type: 'string' },
} as const;

/** What the user asked for. */
export type Words = ReturnType<typeof parse>['values'];

/** Reads the words of a command line; a word nobody knows gets the nearest right spelling. */
export function readWords(argv: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(argv);
  } catch (cause) {
    const unknown = /Unknown option '--([^'\s]+)'/.exec(String(cause))?.[1];
    if (unknown === undefined) throw usage(cause instanceof Error ? cause.message : String(cause));
    throw usage(
      `there is no option --${unknown}${didYouMean(unknown, Object.keys(FLAGS)).replace('mean ', 'mean --')}`,
    );
  }
}

const parse = (argv: readonly string[]) => parseArgs({ args: [...argv], allowPositionals: true, options: FLAGS });

/** The options of a run that were given in words; what was not given is left out. */
export function optionsOf(words: Words): Partial<Options> {
  const timeoutSeconds = amount(words, 'timeout');
  const budget = amount(words, 'budget');
  return {
    ...(budget !== undefined && { budgetMicros: budget === 0 ? null : Math.max(1, microsOf(budget)) }),
    ...given('maxIterations', count(words, 'max-iterations')),
    ...given('parallel', count(words, 'parallel')),
    ...given('retries', count(words, 'retries')),
    ...(timeoutSeconds !== undefined && { timeoutMs: Math.round(timeoutSeconds * 1000) }),
    ...(words.model !== undefined && { model: modelName(words.model) }),
    ...(words.effort !== undefined && { effort: effortName(words.effort) }),
    ...permissions(words),
    ...(words['no-wait'] && { wait: false }),
    ...(words['no-debug'] && { debug: false }),
    ...(words.debug && { debug: true }),
    ...given('claude', words.claude),
    ...(words.var !== undefined && { variables: variables(words.var) }),
  };
}

export const usage = (message: string): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint: 'See raymond --help.' });

/** Who names a mode wants that mode, whatever the run was allowed before. */
function permissions(words: Words): Partial<Options> {
  if (words['dangerously-skip-permissions']) return { skipPermissions: true };
  const permissionMode = words['permission-mode'];
  return permissionMode === undefined ? {} : { permissionMode, skipPermissions: false };
}

type NumberFlag = 'budget' | 'timeout' | 'max-iterations' | 'parallel' | 'retries';

function amount(words: Words, name: NumberFlag): number | undefined {
  const written = words[name];
  if (written === undefined) return undefined;
  const value = /^\d+(\.\d+)?$/.test(written.trim()) ? Number(written) : Number.NaN;
  if (Number.isNaN(value)) throw usage(`--${name} must be a number from 0, not \`${written}\``);
  return value;
}

function count(words: Words, name: NumberFlag): number | undefined {
  const value = amount(words, name);
  if (value !== undefined && !Number.isSafeInteger(value)) {
    throw usage(`--${name} must be a whole number, not \`${words[name]}\``);
  }
  return value;
}

const given = <Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> =>
  value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);

function variables(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw usage(`--var wants name=value, not \`${pair}\``);
      const problem = variableProblem(pair.slice(0, at), 'unix');
      if (problem !== undefined) throw usage(`--var: ${problem}`);
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
}
