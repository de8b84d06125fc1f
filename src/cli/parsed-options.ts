import { didYouMean } from '../core/nearest.ts';
import type { ParsedOptions } from './command.ts';
import { formatFlagName, usageError } from './usage-error.ts';

/** The text that was given for an option. */
export function getTextOption(options: ParsedOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** All that was given for an option that may be repeated. */
export function getRepeatedOption(options: ParsedOptions, name: string): readonly string[] {
  const value = options[name];
  return typeof value === 'object' ? value : [];
}

/** A number from 0 that was given for an option. */
export function getNumberOption(options: ParsedOptions, name: string): number | undefined {
  const text = getTextOption(options, name);
  if (text === undefined) return undefined;
  const value = parseNumber(text);
  if (Number.isNaN(value)) throw usageError(`--${formatFlagName(name)} must be a number from 0, not \`${text}\``);
  return value;
}

/** A number from 0 in plain digits; NaN for anything else. */
export const parseNumber = (text: string): number => (/^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN);

/** A whole number from 0 that was given for an option. */
export function getCountOption(options: ParsedOptions, name: string): number | undefined {
  const value = getNumberOption(options, name);
  if (value === undefined || Number.isSafeInteger(value)) return value;
  throw usageError(`--${formatFlagName(name)} must be a whole number, not \`${getTextOption(options, name)}\``);
}

/** One of these words that was given for an option. */
export function getChoiceOption<Choice extends string>(
  options: ParsedOptions,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = getTextOption(options, name);
  const choice = choices.find((each) => each === text);
  if (text === undefined || choice !== undefined) return choice;
  const suggestion = didYouMean(text, choices);
  throw usageError(`--${formatFlagName(name)} is ${formatChoices(choices)}, not \`${text}\`${suggestion}`);
}

/** `a, b or c`. */
const formatChoices = (choices: readonly string[]): string =>
  `${choices.slice(0, -1).join(', ')} or ${choices.at(-1) ?? ''}`;

const DEFAULT_TEST_TIMEOUT_SECONDS = 60;

/** How long a scenario may take, in milliseconds: what `--timeout` says, where 0 stands for as long as it likes. */
export function getTestTimeoutMs(options: ParsedOptions): number {
  const seconds = getNumberOption(options, 'timeout') ?? DEFAULT_TEST_TIMEOUT_SECONDS;
  return seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000;
}
