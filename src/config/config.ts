import { readFileSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import { didYouMean } from '../core/nearest.ts';
import type { Options } from '../core/run.ts';
import { variableProblem } from '../core/variables.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { type LineOf, linesOf } from './lines.ts';
import { type Plain, SETTINGS } from './settings.ts';
import { written } from './written.ts';

/** A config file that is right. */
export interface Config {
  readonly options: Partial<Options>;
  /** What is written in it, by its table and its key. */
  readonly raymond: ReadonlyMap<string, Plain>;
  readonly vars: ReadonlyMap<string, string>;
  readonly lineOf: LineOf;
}

/** What `.raymond/config.toml` says about the options of a run; nothing, if there is no such file. */
export const readConfig = (file: string): Partial<Options> => openConfig(file)?.options ?? {};

/** The config file, or null if there is none. */
export function openConfig(file: string): Config | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    // A file where the folder should be is told by who wants to write there.
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(cause))) return null;
    throw refusal(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  return parseConfig(text, file);
}

/** Makes sense of the text of a config file. Everything wrong with it is told at once, with its line. */
export function parseConfig(text: string, file: string): Config {
  const document = parsed(text, file);
  const lineOf = linesOf(text);
  const problems: { readonly line: number; readonly message: string }[] = [];
  const tell = (path: readonly string[], message: string): void => {
    problems.push({ line: lineOf(...path), message });
  };
  for (const key of Object.keys(document)) {
    if (!TABLES.includes(key)) tell([key], astray(key));
  }
  const tableOf = (name: string): [string, unknown][] => {
    const table = document[name] ?? {};
    if (isTable(table)) return Object.entries(table);
    tell([name], `\`${name}\` must be a table, [${name}], not ${written(table)}`);
    return [];
  };
  let options: Partial<Options> = {};
  const raymond = new Map<string, Plain>();
  for (const [key, value] of tableOf('raymond')) {
    const setting = Object.hasOwn(SETTINGS, key) ? SETTINGS[key] : undefined;
    const path = ['raymond', key];
    if (setting === undefined) tell(path, `there is no option \`${key}\`${didYouMean(key, Object.keys(SETTINGS))}`);
    else if (!setting.fits(value)) tell(path, `\`${key}\` must be ${setting.wanted}, not ${written(value)}`);
    else {
      options = { ...options, ...setting.option(value) };
      raymond.set(key, value as Plain);
    }
  }
  const vars = new Map<string, string>();
  for (const [name, value] of tableOf('vars')) {
    const problem = variableProblem(name, 'unix');
    const path = ['vars', name];
    if (problem !== undefined) tell(path, problem);
    else if (typeof value !== 'string') tell(path, `the variable \`${name}\` must be a text, not ${written(value)}`);
    else vars.set(name, value);
  }
  if (problems.length > 0) {
    problems.sort((a, b) => a.line - b.line);
    throw refusal(problems.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'));
  }
  if (vars.size > 0) options = { ...options, variables: Object.fromEntries(vars) };
  return { options, raymond, vars, lineOf };
}

const TABLES = ['raymond', 'vars'];

function astray(key: string): string {
  if (Object.hasOwn(SETTINGS, key)) return `\`${key}\` is an option: put [raymond] above it`;
  const meant = didYouMean(key, TABLES);
  return `\`${key}\` means nothing here${meant}; options belong under [raymond], variables under [vars]`;
}

function parsed(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const why = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? 'not TOML';
    const line = text.split(/\r?\n/)[cause.line - 1]?.trim() ?? '';
    throw refusal(`${file}:${cause.line}:${cause.column}: ${why} in \`${line}\` (texts need quotes)`, cause);
  }
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

const refusal = (message: string, cause?: unknown): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint: 'Correct the config file and try again.', cause });
