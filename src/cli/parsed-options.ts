import { readdirSync } from 'node:fs';
import { currentPlatform } from '../app/workflows/platform.ts';
import { type Platform, resolveEntry } from '../language/state-names.ts';
import { didYouMean } from '../language/text/nearest.ts';
import type { Terminal } from '../render/terminal/terminal.ts';
import { PLATFORMS } from './choices.ts';
import { type ParsedOptions, usageError } from './command.ts';

/** Reads the text of an option. */
export function getTextOption(options: ParsedOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Reads all values of an option that may be repeated. */
export function getRepeatedOption(options: ParsedOptions, name: string): readonly string[] {
  const value = options[name];
  return typeof value === 'object' ? value : [];
}

/** Reads an option that is a number of at least 0. */
export function getNumberOption(options: ParsedOptions, name: string): number | undefined {
  const text = getTextOption(options, name);
  if (text === undefined) return undefined;
  const value = parseNumber(text);
  if (Number.isNaN(value)) throw usageError(`${formatFlag(name)} must be a number of at least 0, not \`${text}\``);
  return value;
}

/** Parses a number of at least 0 in plain digits; NaN for anything else. */
export const parseNumber = (text: string): number => (/^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN);

/** Reads an option that is a whole number of at least 0. */
export function getCountOption(options: ParsedOptions, name: string): number | undefined {
  const value = getNumberOption(options, name);
  if (value === undefined || Number.isSafeInteger(value)) return value;
  throw usageError(`${formatFlag(name)} must be a whole number of at least 0, not \`${getTextOption(options, name)}\``);
}

/** Reads an option that is one of these words. */
export function getChoiceOption<Choice extends string>(
  options: ParsedOptions,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = getTextOption(options, name);
  const choice = choices.find((each) => each === text);
  if (text === undefined || choice !== undefined) return choice;
  const listed = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1) ?? ''}`;
  throw usageError(`${formatFlag(name)} must be ${listed}, not \`${text}\`${didYouMean(text, choices)}`);
}

/** Reads `--platform`. */
export const getPlatformOption = (options: ParsedOptions): Platform | undefined =>
  getChoiceOption(options, 'platform', PLATFORMS);

const DEFAULT_TEST_TIMEOUT_SECONDS = 60;

/** Reads the `--timeout` of a scenario, in milliseconds; 0 is written for no limit. */
export function getTestTimeoutMs(options: ParsedOptions): number {
  const seconds = getNumberOption(options, 'timeout') ?? DEFAULT_TEST_TIMEOUT_SECONDS;
  return seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000;
}

const AGE_UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Reads an age such as `30d`, in milliseconds; undefined if it is none. */
export function parseAgeMs(written: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d+)([mhdw])$/.exec(written.trim()) ?? [];
  const unitMs = AGE_UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** Refuses options that a command, used like this, has no use for. */
export function refuseOptions(options: ParsedOptions, names: readonly string[], command: string): void {
  for (const name of names) {
    if (options[name] !== undefined) throw usageError(`${formatFlag(name)} cannot be used with ${command}`);
  }
}

const formatFlag = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The path of a workflow if none is named: the current folder, refused if it holds no workflow. */
export function requireWorkflowHere(cwd: string, platform: Platform | undefined, hint: string): string {
  const { kind } = resolveEntry({ files: readdirSync(cwd), platform: platform ?? currentPlatform() });
  // One with several entries, or with an entry for another platform, is still a workflow.
  if (kind === 'unknown') throw usageError('there is no workflow in this folder', hint);
  return '.';
}

/** A text that is written on the command line; `-` stands for stdin. */
export const readTextArgument = async (written: string, terminal: Terminal, hint?: string): Promise<string> =>
  written === '-' ? decodeInputText((await terminal.readStdin?.()) ?? new Uint8Array(), 'stdin', hint) : written;

/** The text of a file or of stdin, without the line breaks at its end. */
export function decodeInputText(bytes: Uint8Array, source: string, hint = 'Convert it.'): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/[\r\n]+$/, '');
  } catch {
    throw usageError(`${source} is not text in UTF-8`, hint);
  }
}
