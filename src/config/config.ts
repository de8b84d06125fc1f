import { readFileSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import { didYouMean } from '../core/nearest.ts';
import type { Options } from '../core/run.ts';
import { variableNameProblem } from '../core/variables.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { type ConfigValue, SETTINGS } from './settings.ts';
import { type FindKeyLine, formatTomlValue, locateConfigKeys } from './toml.ts';

/** A config file that is right. */
export interface Config {
  readonly options: Partial<Options>;
  /** What is written in it, by its table and its key. */
  readonly raymond: ReadonlyMap<string, ConfigValue>;
  readonly vars: ReadonlyMap<string, string>;
  readonly lineOf: FindKeyLine;
}

/** What `.raymond/config.toml` says about the options of a run; nothing, if there is no such file. */
export const readConfigOptions = (file: string): Partial<Options> => openConfig(file)?.options ?? {};

/** The config file, or null if there is none. */
export function openConfig(file: string): Config | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    // A file where the folder should be is told by who wants to write there.
    if (['ENOENT', 'ENOTDIR'].includes(errorCodeOf(cause))) return null;
    throw configError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  return parseConfig(text, file);
}

/** Makes sense of the text of a config file. Everything wrong with it is told at once, with its line. */
export function parseConfig(text: string, file: string): Config {
  const document = parseToml(text, file);
  const lineOf = locateConfigKeys(text);
  const problems: { readonly line: number; readonly message: string }[] = [];
  const report = (path: readonly string[], message: string): void => {
    problems.push({ line: lineOf(...path), message });
  };
  for (const key of Object.keys(document)) {
    if (!TABLES.includes(key)) report([key], describeUnknownKey(key));
  }
  const tableOf = (name: string): [string, unknown][] => {
    const table = document[name] ?? {};
    if (isTable(table)) return Object.entries(table);
    report([name], `\`${name}\` must be a table, [${name}], not ${formatTomlValue(table)}`);
    return [];
  };
  let options: Partial<Options> = {};
  const raymond = new Map<string, ConfigValue>();
  for (const [key, value] of tableOf('raymond')) {
    const setting = Object.hasOwn(SETTINGS, key) ? SETTINGS[key] : undefined;
    const path = ['raymond', key];
    if (setting === undefined) report(path, `there is no option \`${key}\`${didYouMean(key, Object.keys(SETTINGS))}`);
    else if (!setting.accepts(value))
      report(path, `\`${key}\` must be ${setting.expected}, not ${formatTomlValue(value)}`);
    else {
      options = { ...options, ...setting.toOptions(value) };
      raymond.set(key, value as ConfigValue);
    }
  }
  const vars = new Map<string, string>();
  for (const [name, value] of tableOf('vars')) {
    const problem = variableNameProblem(name, 'unix');
    const path = ['vars', name];
    if (problem !== undefined) report(path, problem);
    else if (typeof value !== 'string')
      report(path, `the variable \`${name}\` must be a text, not ${formatTomlValue(value)}`);
    else vars.set(name, value);
  }
  if (problems.length > 0) {
    problems.sort((a, b) => a.line - b.line);
    throw configError(problems.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'));
  }
  if (vars.size > 0) options = { ...options, variables: Object.fromEntries(vars) };
  return { options, raymond, vars, lineOf };
}

const TABLES = ['raymond', 'vars'];

function describeUnknownKey(key: string): string {
  if (Object.hasOwn(SETTINGS, key)) return `\`${key}\` is an option: put [raymond] above it`;
  const suggestion = didYouMean(key, TABLES);
  return `\`${key}\` means nothing here${suggestion}; options belong under [raymond], variables under [vars]`;
}

function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? 'not TOML';
    const line = text.split(/\r?\n/)[cause.line - 1]?.trim() ?? '';
    throw configError(`${file}:${cause.line}:${cause.column}: ${reason} in \`${line}\` (texts need quotes)`, cause);
  }
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

const configError = (message: string, cause?: unknown): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint: 'Correct the config file and try again.', cause });

/** One option or variable as it is in force, and where it comes from. */
export interface EffectiveSetting {
  readonly name: string;
  /** Null where the default cannot be written down; `note` then says what it means. */
  readonly value: ConfigValue | null;
  readonly note: string | null;
  readonly source: 'default' | 'config';
  /** The line of the config file that sets it; null for a default. */
  readonly line: number | null;
}

/** What is in force for a run that is started now without any option on its command line. */
export function listEffectiveSettings(config: Config | null): {
  readonly options: readonly EffectiveSetting[];
  readonly vars: readonly EffectiveSetting[];
} {
  const options = Object.entries(SETTINGS).map(([name, { sample, whenOmitted }]): EffectiveSetting => {
    const value = config?.raymond.get(name);
    if (config && value !== undefined)
      return { name, value, note: null, source: 'config', line: config.lineOf('raymond', name) };
    return { name, value: whenOmitted === null ? sample : null, note: whenOmitted, source: 'default', line: null };
  });
  const vars = [...(config?.vars ?? [])].map(([name, value]): EffectiveSetting => {
    return { name, value, note: null, source: 'config', line: config?.lineOf('vars', name) ?? null };
  });
  return { options, vars };
}
