import { resolve } from 'node:path';
import { readConfigOptions } from '../config/config.ts';
import { usdToMicros } from '../core/ledger.ts';
import { normalizeEffort, normalizeModel } from '../core/preference.ts';
import type { Options } from '../core/run.ts';
import { variableNameProblem } from '../core/variables.ts';
import { findConfigFile } from '../runtime/project-files.ts';
import type { ParsedOptions } from './command.ts';
import { getCountOption, getNumberOption, getRepeatedOption, getTextOption } from './parsed-options.ts';
import { usageError } from './usage-error.ts';

/** The options of a run that were given in words; what was not given is left out. */
export function parseRunOptions(parsed: ParsedOptions, cwd: string): Partial<Options> {
  const timeoutSeconds = getNumberOption(parsed, 'timeout');
  const budget = getNumberOption(parsed, 'budget');
  const [model, effort, agent] = ['model', 'effort', 'agent'].map((name) => getTextOption(parsed, name));
  const pairs = getRepeatedOption(parsed, 'var');
  return {
    ...(budget !== undefined && { budgetMicros: budget === 0 ? null : Math.max(1, usdToMicros(budget)) }),
    ...omitUndefined('maxIterations', getCountOption(parsed, 'maxIterations')),
    ...omitUndefined('parallel', getCountOption(parsed, 'parallel')),
    ...omitUndefined('retries', getCountOption(parsed, 'retries')),
    ...(timeoutSeconds !== undefined && {
      timeoutMs: timeoutSeconds === 0 ? 0 : Math.max(1, Math.round(timeoutSeconds * 1000)),
    }),
    ...(model !== undefined && { model: normalizeModel(model) }),
    ...(effort !== undefined && { effort: normalizeEffort(effort) }),
    ...parsePermissions(parsed),
    ...(typeof parsed.wait === 'boolean' && { wait: parsed.wait }),
    ...(typeof parsed.debug === 'boolean' && { debug: parsed.debug }),
    ...(agent !== undefined && { agent: parseAgentOption(agent, cwd) }),
    ...omitUndefined('claude', getTextOption(parsed, 'claude')),
    ...(pairs.length > 0 && { variables: parseVariables(pairs) }),
  };
}

/** What the config file says, as far as the command line does not say otherwise. */
export function addConfigFileOptions(options: Partial<Options>, cwd: string): Partial<Options> {
  const config = readConfigOptions(findConfigFile(cwd));
  return { ...config, ...options, variables: { ...config.variables, ...options.variables } };
}

/** Who names a mode wants that mode, whatever the run was allowed before. */
function parsePermissions(parsed: ParsedOptions): Partial<Options> {
  if (parsed.dangerouslySkipPermissions) return { skipPermissions: true };
  const permissionMode = getTextOption(parsed, 'permissionMode');
  return permissionMode === undefined ? {} : { permissionMode, skipPermissions: false };
}

/** A file of answers is remembered by its whole path: a resume may come from elsewhere. */
function parseAgentOption(value: string, cwd: string): string {
  if (value === 'claude') return value;
  const [, file] = /^replay:(.+)$/.exec(value) ?? [];
  if (file === undefined) throw usageError(`--agent must be claude or replay:FILE, not \`${value}\``);
  return `replay:${resolve(cwd, file)}`;
}

const omitUndefined = <Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> =>
  value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);

function parseVariables(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equalsIndex = pair.indexOf('=');
      if (equalsIndex < 1) throw usageError(`--var wants name=value, not \`${pair}\``);
      const problem = variableNameProblem(pair.slice(0, equalsIndex), 'unix');
      if (problem !== undefined) throw usageError(`--var: ${problem}`);
      return [pair.slice(0, equalsIndex), pair.slice(equalsIndex + 1)] as const;
    }),
  );
}
