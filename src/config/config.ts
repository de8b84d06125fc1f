import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { explainMismatch, type WrittenValue } from '../core/options/option-types.ts';
import { SETTINGS, type Setting, type SettingName, type Settings } from '../core/options/view-options.ts';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../errors.ts';
import { shortenForMessage } from '../language/problem.ts';
import { didYouMean } from '../language/text/nearest.ts';
import { variableNameProblem } from '../language/variable-names.ts';
import { type FindKeyLine, formatTomlValue, isNestedDeeper, locateConfigKeys } from './toml.ts';

/** The options that may stand under [raymond]. */
export const CONFIG_OPTIONS: readonly Setting[] = SETTINGS.filter(({ config }) => config !== false);

/** A config file without mistakes. */
export interface Config {
  readonly file: string;
  /** The hash of its text: it is trusted as it is, not as it may become. */
  readonly sha256: string;
  /** The options that it sets, those of views included. */
  readonly options: Partial<Settings>;
  readonly lineOf: FindKeyLine;
}

/** Opens a config file; null if there is none. */
export function openConfig(file: string): Config | null {
  let text: string;
  try {
    if (!statSync(file).isFile()) throw new Error('it is not a regular file');
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    // ENOTDIR: there is a file in place of `.raymond`. The command that writes there reports it.
    if (['ENOENT', 'ENOTDIR'].includes(errorCodeOf(cause))) return null;
    throw configError(`${file} cannot be read: ${errorMessageOf(cause)}`, cause);
  }
  return parseConfig(text, file);
}

type Report = (path: readonly string[], message: string) => void;
type Table = Readonly<Record<string, unknown>>;

/** Parses a config file. All mistakes in it are reported at once, each with its line. */
export function parseConfig(text: string, file: string): Config {
  const document = parseToml(text, file);
  const lineOf = locateConfigKeys(text);
  const problems: { readonly line: number; readonly message: string }[] = [];
  const report: Report = (path, message) => {
    problems.push({ line: lineOf(...path), message });
  };
  for (const key of Object.keys(document)) if (!TABLES.includes(key)) report([key], describeUnknownKey(key));
  const variables = parseVariables(tableOf(document, 'vars', report), report);
  const options = {
    ...parseOptions(tableOf(document, 'raymond', report), file, report),
    ...(Object.keys(variables).length > 0 && { variables }),
  };
  if (problems.length === 0) return { file, sha256: hashText(text), options, lineOf };
  problems.sort((a, b) => a.line - b.line);
  throw configError(problems.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'));
}

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');

const TABLES = ['raymond', 'vars'];

function describeUnknownKey(key: string): string {
  if (CONFIG_OPTIONS.some((option) => option.key === key)) return `\`${key}\` is an option: put [raymond] above it`;
  const suggestion = didYouMean(key, TABLES);
  return `\`${key}\` means nothing here${suggestion}; options belong under [raymond], variables under [vars]`;
}

function tableOf(document: Table, name: string, report: Report): Table {
  const table = document[name] ?? {};
  if (isTable(table)) return table;
  report([name], `\`${name}\` must be a table, [${name}], not ${formatTomlValue(table)}`);
  return {};
}

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function parseOptions(table: Table, file: string, report: Report): Partial<Settings> {
  let options: Partial<Settings> = {};
  for (const [key, written] of Object.entries(table)) {
    const option = CONFIG_OPTIONS.find((each) => each.key === key);
    const kept = option?.type.parse(written, (path) => resolveConfigPath(path, file));
    const path = ['raymond', key];
    if (option === undefined) report(path, `there is no option \`${key}\`${didYouMean(key, OPTION_KEYS)}`);
    else if (kept === undefined) report(path, explainValue(option, written));
    else if (option.config !== 'on' || kept !== false) options = { ...options, [option.name]: kept };
  }
  return options;
}

/** A path in a config file starts from the folder that contains `.raymond`, in the user's own file from that file's folder. */
function resolveConfigPath(path: string, file: string): string {
  const folder = dirname(file);
  if (path.startsWith('~/')) return join(homedir(), path.slice(2));
  return resolve(basename(folder) === '.raymond' ? dirname(folder) : folder, path);
}

function explainValue({ key, type }: Setting, written: unknown): string {
  const { message, hint } = explainMismatch(type, { name: `\`${key}\``, written, quoted: formatTomlValue(written) });
  return hint === undefined ? message : `${message}. ${hint.replace(/\.$/, '')}`;
}

const OPTION_KEYS = CONFIG_OPTIONS.map(({ key }) => key);

function parseVariables(table: Table, report: Report): Readonly<Record<string, string>> {
  const variables = new Map<string, string>();
  for (const [name, value] of Object.entries(table)) {
    const problem = variableNameProblem(name, 'unix');
    const path = ['vars', name];
    if (problem !== undefined) report(path, problem);
    else if (typeof value !== 'string')
      report(path, `the variable \`${name}\` must be a text, not ${formatTomlValue(value)}`);
    else variables.set(name, value);
  }
  return Object.fromEntries(variables);
}

/** No option needs as many or as deep tables; more would take long to report. */
const MAX_CONFIG_CHARS = 1024 * 1024;
const MAX_CONFIG_DEPTH = 50;

function parseToml(text: string, file: string): Table {
  if (text.length > MAX_CONFIG_CHARS) throw configError(`${file} has more than 1 MiB`);
  try {
    const table = parse(text);
    if (isNestedDeeper(table, MAX_CONFIG_DEPTH))
      throw configError(`${file} has tables nested more than ${MAX_CONFIG_DEPTH} levels deep`);
    return table;
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? 'not TOML';
    const line = shortenForMessage(text.split(/\r?\n/)[cause.line - 1]?.trim() ?? '');
    throw configError(`${file}:${cause.line}:${cause.column}: ${reason} in \`${line}\` (texts need quotes)`, cause);
  }
}

const configError = (message: string, cause?: unknown): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint: 'Correct the config file and try again.', cause });

/** An option whose value runs programs or widens what agents may do. */
export interface RiskyOption {
  readonly option: SettingName;
  readonly key: string;
  readonly value: WrittenValue;
  /** Its effect, as a phrase. */
  readonly effect: string;
}

/** Such a setting in a config file. In a project's file it needs the user's trust. */
export interface RiskySetting extends RiskyOption {
  readonly line: number;
}

/** Finds the options that run programs or widen what agents may do. */
export const findRiskyOptions = (options: Partial<Settings>): readonly RiskyOption[] =>
  CONFIG_OPTIONS.flatMap(({ name, key, type, trust }): readonly RiskyOption[] => {
    const kept = options[name];
    if (trust === undefined || kept === undefined || !trust.isNeededFor(kept)) return [];
    const value = type.format(kept);
    return value === null ? [] : [{ option: name, key, value, effect: trust.effect }];
  });

/** Describes an option in one line, with what it does. */
export const formatRiskyOption = ({ key, value, effect }: RiskyOption): string =>
  `${key} = ${formatTomlValue(value)} (${effect})`;

/** Finds the settings of a config file that need the user's trust if the file is a project's, in their order there. */
export function findRiskySettings({ options, lineOf }: Config): readonly RiskySetting[] {
  const settings = findRiskyOptions(options).map((each) => ({ ...each, line: lineOf('raymond', each.key) }));
  return settings.toSorted((a, b) => a.line - b.line);
}

/** Describes a setting in one line, with what it does. */
export const formatRiskySetting = (setting: RiskySetting): string =>
  `line ${setting.line}: ${formatRiskyOption(setting)}`;
