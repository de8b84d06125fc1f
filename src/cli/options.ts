import { resolve } from 'node:path';
import { readConfig } from '../config/config.ts';
import { microsOf } from '../core/ledger.ts';
import { effortName, modelName } from '../core/preference.ts';
import type { Options } from '../core/run.ts';
import { variableProblem } from '../core/variables.ts';
import { configFile } from '../raymond/records.ts';
import type { Words } from './entry.ts';
import { usage } from './usage.ts';
import { allOf, amountOf, countOf, textOf } from './words.ts';

/** The options of a run that were given in words; what was not given is left out. */
export function optionsOf(words: Words, cwd: string): Partial<Options> {
  const timeoutSeconds = amountOf(words, 'timeout');
  const budget = amountOf(words, 'budget');
  const [model, effort, agent] = ['model', 'effort', 'agent'].map((name) => textOf(words, name));
  const pairs = allOf(words, 'var');
  return {
    ...(budget !== undefined && { budgetMicros: budget === 0 ? null : Math.max(1, microsOf(budget)) }),
    ...given('maxIterations', countOf(words, 'maxIterations')),
    ...given('parallel', countOf(words, 'parallel')),
    ...given('retries', countOf(words, 'retries')),
    ...(timeoutSeconds !== undefined && {
      timeoutMs: timeoutSeconds === 0 ? 0 : Math.max(1, Math.round(timeoutSeconds * 1000)),
    }),
    ...(model !== undefined && { model: modelName(model) }),
    ...(effort !== undefined && { effort: effortName(effort) }),
    ...permissions(words),
    ...(typeof words.wait === 'boolean' && { wait: words.wait }),
    ...(typeof words.debug === 'boolean' && { debug: words.debug }),
    ...(agent !== undefined && { agent: agentOf(agent, cwd) }),
    ...given('claude', textOf(words, 'claude')),
    ...(pairs.length > 0 && { variables: variables(pairs) }),
  };
}

/** What the config file says, as far as the command line does not say otherwise. */
export function withConfig(options: Partial<Options>, cwd: string): Partial<Options> {
  const config = readConfig(configFile(cwd));
  return { ...config, ...options, variables: { ...config.variables, ...options.variables } };
}

/** Who names a mode wants that mode, whatever the run was allowed before. */
function permissions(words: Words): Partial<Options> {
  if (words.dangerouslySkipPermissions) return { skipPermissions: true };
  const permissionMode = textOf(words, 'permissionMode');
  return permissionMode === undefined ? {} : { permissionMode, skipPermissions: false };
}

/** A file of answers is remembered by its whole path: a resume may come from elsewhere. */
function agentOf(who: string, cwd: string): string {
  if (who === 'claude') return who;
  const [, file] = /^replay:(.+)$/.exec(who) ?? [];
  if (file === undefined) throw usage(`--agent must be claude or replay:FILE, not \`${who}\``);
  return `replay:${resolve(cwd, file)}`;
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
