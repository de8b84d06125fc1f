import { microsOf } from '../core/ledger.ts';
import { effortName, modelName } from '../core/preference.ts';
import type { Options } from '../core/run.ts';

/** One option of the config file: what it takes, and what it makes of it. */
export interface Setting {
  readonly wanted: string;
  readonly fits: (value: unknown) => boolean;
  readonly option: (value: unknown) => Partial<Options>;
}

/** A setting with its type kept between the check and the use. */
function setting<T>(
  wanted: string,
  fits: (value: unknown) => value is T,
  option: (value: T) => Partial<Options>,
): Setting {
  return { wanted, fits, option: (value) => (fits(value) ? option(value) : {}) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isSwitch = (value: unknown): value is boolean => typeof value === 'boolean';
const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 1e9;
const isCount = (value: unknown): value is number => isAmount(value) && Number.isInteger(value);
const isStack = (value: unknown): value is 'keep' | 'clear' => value === 'keep' || value === 'clear';

const text = (option: (value: string) => Partial<Options>): Setting => setting('a text', isText, option);
const onOff = (option: (value: boolean) => Partial<Options>): Setting => setting('true or false', isSwitch, option);
const amount = (option: (value: number) => Partial<Options>): Setting => setting('a number from 0', isAmount, option);
const count = (option: (value: number) => Partial<Options>): Setting =>
  setting('a whole number from 0', isCount, option);

/** Every option that the config file knows. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  budget: amount((usd) => ({ budgetMicros: usd === 0 ? null : Math.max(1, microsOf(usd)) })),
  max_iterations: count((maxIterations) => ({ maxIterations })),
  model: text((name) => ({ model: modelName(name) })),
  effort: text((name) => ({ effort: effortName(name) })),
  timeout: amount((seconds) => ({ timeoutMs: Math.round(seconds * 1000) })),
  parallel: count((most) => ({ parallel: most })),
  reminders: count((reminders) => ({ reminders })),
  retries: count((retries) => ({ retries })),
  wait: onOff((wait) => ({ wait })),
  reset_stack: setting('"keep" or "clear"', isStack, (resetStack) => ({ resetStack })),
  permission_mode: text((permissionMode) => ({ permissionMode })),
  dangerously_skip_permissions: onOff((skipPermissions) => ({ skipPermissions })),
  debug: onOff((debug) => ({ debug })),
  claude: text((claude) => ({ claude })),
};
