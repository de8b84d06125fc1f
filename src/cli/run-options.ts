import { resolve } from 'node:path';
import { explainMismatch } from '../core/options/option-types.ts';
import { flagOf, OPTIONS, type Option, type Options } from '../core/options/options.ts';
import { variableNameProblem } from '../language/variable-names.ts';
import { type ParsedOptions, usageError } from './command.ts';
import { parseNumber } from './parsed-options.ts';

/** Parses the options of a run that were given on the command line; the others are left out. */
export function parseRunOptions(parsed: ParsedOptions, cwd: string): Partial<Options> {
  let options: Partial<Options> = {};
  for (const option of OPTIONS) {
    const given =
      parsed[
        flagOf(option)
          .slice(2)
          .replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
      ];
    if (given !== undefined) options = { ...options, [option.name]: parseFlag(option, given, cwd) };
  }
  // To name a mode takes back the permission for everything that the run may have had.
  return options.permissionMode === undefined ? options : { skipPermissions: false, ...options };
}

function parseFlag(option: Option, given: NonNullable<ParsedOptions[string]>, cwd: string): Options[keyof Options] {
  const { type } = option;
  if (typeof given === 'object' && type.kind === 'variables') return parseVariables(given);
  const isNumber = type.kind === 'amount' || type.kind === 'count';
  const written = isNumber && typeof given === 'string' ? parseNumber(given) : given;
  const kept = type.parse(written, (path) => resolve(cwd, path));
  if (kept !== undefined) return kept;
  const { message, hint } = explainMismatch(type, { name: flagOf(option), written, quoted: `\`${given}\`` });
  throw usageError(message, hint);
}

function parseVariables(pairs: readonly string[]): Options['variables'] {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equalsIndex = pair.indexOf('=');
      if (equalsIndex < 1) throw usageError(`--var must be name=value, not \`${pair}\``);
      const problem = variableNameProblem(pair.slice(0, equalsIndex), 'unix');
      if (problem !== undefined) throw usageError(`--var: ${problem}`);
      return [pair.slice(0, equalsIndex), pair.slice(equalsIndex + 1)] as const;
    }),
  );
}
