import { readFileSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import { didYouMean } from '../core/nearest.ts';
import type { Options } from '../core/run.ts';
import { variableProblem } from '../core/variables.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { SETTINGS } from './settings.ts';

/** What `.raymond/config.toml` says about the options of a run; nothing, if there is no such file. */
export function readConfig(file: string): Partial<Options> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    // A file where the folder should be is told by who wants to write there.
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) return {};
    throw refusal(`${file} cannot be read`, cause);
  }
  return configOf(text, file);
}

/** The options in the text of a config file. Everything wrong with it is told at once, with its line. */
export function configOf(text: string, file: string): Partial<Options> {
  const { raymond = {}, vars = {}, ...others } = parsed(text, file);
  const problems: string[] = [];
  const tell = (key: string, message: string): void => {
    problems.push(`${file}:${lineOf(text, key)}: ${message}`);
  };
  for (const key of Object.keys(others)) {
    tell(key, `\`${key}\` means nothing here${didYouMean(key, ['raymond', 'vars'])}; options belong under [raymond]`);
  }
  let options: Partial<Options> = {};
  for (const [key, value] of entriesOf(raymond)) {
    const setting = Object.hasOwn(SETTINGS, key) ? SETTINGS[key] : undefined;
    if (setting === undefined) tell(key, `there is no option \`${key}\`${didYouMean(key, Object.keys(SETTINGS))}`);
    else if (!setting.fits(value)) tell(key, `\`${key}\` must be ${setting.wanted}, not ${JSON.stringify(value)}`);
    else options = { ...options, ...setting.option(value) };
  }
  const variables = new Map<string, string>();
  for (const [name, value] of entriesOf(vars)) {
    const problem = variableProblem(name, 'unix');
    if (problem !== undefined) tell(name, problem);
    else if (typeof value !== 'string')
      tell(name, `the variable \`${name}\` must be a text, not ${JSON.stringify(value)}`);
    else variables.set(name, value);
  }
  if (problems.length > 0) throw refusal(problems.join('\n'));
  return variables.size === 0 ? options : { ...options, variables: Object.fromEntries(variables) };
}

function parsed(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const why = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? 'not TOML';
    throw refusal(`${file}:${cause.line}:${cause.column}: ${why}`, cause);
  }
}

const entriesOf = (table: unknown): [string, unknown][] =>
  typeof table === 'object' && table !== null && !Array.isArray(table) ? Object.entries(table) : [];

/** The parser keeps no lines for values; a key stands at the beginning of its line, or of its table's. */
function lineOf(text: string, key: string): number {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.replace(/^\s*\[*\s*["']?/, '').startsWith(key));
  return at === -1 ? 1 : at + 1;
}

const refusal = (message: string, cause?: unknown): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint: 'Mend the config file and try again.', cause });
