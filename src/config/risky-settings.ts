import type { WrittenValue } from '../core/options/option-types.ts';
import type { SettingName, Settings } from '../core/options/view-options.ts';
import { CONFIG_OPTIONS, type Config } from './config.ts';
import { formatTomlValue } from './toml.ts';

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
