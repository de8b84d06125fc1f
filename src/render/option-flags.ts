import { flagOf, OPTIONS, type Option, type Options } from '../core/options/options.ts';
import { quoteShellArgument } from './format.ts';
import { sanitizeShortLine } from './sanitize.ts';

/** The options that differ, as they are written on the command line, or in config.toml if they have no flag. */
export function formatChangedFlags(before: Options, after: Options): readonly string[] {
  const flags = OPTIONS.filter(
    ({ name, type }) => type.kind !== 'variables' && !isSameValue(before[name], after[name]),
  );
  const variables = Object.entries(after.variables)
    .filter(([name, value]) => before.variables[name] !== value)
    .map(([name, value]) => `--var ${quoteValue(`${name}=${value}`)}`);
  return [...flags.flatMap((option) => formatFlag(option, after) ?? []), ...variables];
}

/** True if two values of an option are the same; a value may be a list. */
const isSameValue = (before: unknown, after: unknown): boolean => JSON.stringify(before) === JSON.stringify(after);

/** An option and its value; null if nothing is chosen any more, for which there is no flag. */
function formatFlag(option: Option, options: Options): string | null {
  const { name, key, type, argument, negation } = option;
  const value = type.format(options[name]);
  const flag = flagOf(option);
  if (value === null) return null;
  if (argument === undefined) return `${key} = ${value}`;
  if (value === true) return flag;
  if (value === false) return negation === undefined ? `no longer ${flag}` : flag.replace('--', '--no-');
  if (typeof value === 'object') return value.map((each) => `${flag} ${quoteValue(each)}`).join(' ') || `no ${flag}`;
  return `${flag} ${quoteValue(String(value))}`;
}

const MAX_VALUE_CHARS = 80;

/** A value quoted for a shell, shortened if it is long. */
const quoteValue = (value: string): string => quoteShellArgument(sanitizeShortLine(value, MAX_VALUE_CHARS));
