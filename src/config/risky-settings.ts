import type { WrittenValue } from '../core/option-types.ts';
import type { SettingName } from '../core/view-options.ts';
import { CONFIG_OPTIONS, type Config } from './config.ts';
import { formatTomlValue } from './toml.ts';

/** A setting that runs programs or widens what agents may do. In a project's file it needs the user's trust. */
export interface RiskySetting {
  readonly option: SettingName;
  readonly key: string;
  readonly value: WrittenValue;
  readonly line: number;
  /** What it does, as a phrase. */
  readonly effect: string;
}

/** Finds the settings of a config file that need the user's trust if the file is a project's, in their order there. */
export function findRiskySettings({ options, lineOf }: Config): readonly RiskySetting[] {
  const settings = CONFIG_OPTIONS.flatMap(({ name, key, type, trust }): readonly RiskySetting[] => {
    const kept = options[name];
    if (trust === undefined || kept === undefined || !trust.isNeededFor(kept)) return [];
    const value = type.format(kept);
    return value === null ? [] : [{ option: name, key, value, line: lineOf('raymond', key), effect: trust.effect }];
  });
  return settings.toSorted((a, b) => a.line - b.line);
}

/** Describes a setting in one line, with what it does. */
export const formatRiskySetting = ({ key, value, line, effect }: RiskySetting): string =>
  `line ${line}: ${key} = ${formatTomlValue(value)} (${effect})`;
