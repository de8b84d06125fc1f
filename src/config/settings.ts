import { usdToMicros } from '../core/ledger.ts';
import { normalizeEffort, normalizeModel } from '../core/preference.ts';
import type { Options } from '../core/run.ts';

/** What can be written for an option in the config file. */
export type ConfigValue = string | number | boolean;

/** One option of the config file: what it is for, what it takes, and what it makes of it. */
export interface Setting {
  readonly purpose: string;
  /** What may be written for it: its default, unless `otherwise` says that the default cannot be written. */
  readonly sample: ConfigValue;
  /** What happens if it is left out, where no value says so. */
  readonly whenOmitted: string | null;
  readonly expected: string;
  /** What fits, in the words of JSON Schema. */
  readonly jsonSchema: object;
  readonly accepts: (value: unknown) => boolean;
  readonly toOptions: (value: unknown) => Partial<Options>;
}

const NUMBER_LIMIT = 1e9;

/** Every option that the config file knows. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  budget: numberSetting(
    'Dollars a run may spend. Then it stops, and can be resumed with more. 0 for no limit.',
    { usual: 10 },
    (usd) => ({ budgetMicros: usd === 0 ? null : Math.max(1, usdToMicros(usd)) }),
  ),
  max_iterations: integerSetting(
    'Executions of states in a run. Then it stops, and can be resumed with more. 0 for no limit.',
    { usual: 0 },
    (most) => ({ maxIterations: most === 0 ? null : most }),
  ),
  model: textSetting(
    'The model, where neither a tag nor the state asks for one: opus, sonnet, haiku, or a full name.',
    { example: 'sonnet', whenOmitted: 'the one that Claude Code chooses' },
    (name) => ({ model: normalizeModel(name) }),
  ),
  effort: textSetting(
    'How hard it thinks, where neither a tag nor the state asks for it: low, medium, high, xhigh or max.',
    { example: 'medium', whenOmitted: 'what Claude Code chooses' },
    (name) => ({ effort: normalizeEffort(name) }),
  ),
  timeout: numberSetting(
    'Seconds a turn may be silent before it is ended, where its state does not say. 0 for never.',
    { example: 900, whenOmitted: '900 for Claude turns, never for scripts' },
    (seconds) => ({ timeoutMs: seconds === 0 ? 0 : Math.max(1, Math.round(seconds * 1000)) }),
  ),
  parallel: integerSetting('Claude turns at once; further ones wait. 0 for no limit.', { usual: 8 }, (most) => ({
    parallel: most === 0 ? null : most,
  })),
  reminders: integerSetting(
    'How often a state is reminded of its tags when its answer has none that fits.',
    { usual: 3 },
    (n) => ({
      reminders: n,
    }),
  ),
  retries: integerSetting('How often a turn is tried again that failed for a passing reason.', { usual: 3 }, (n) => ({
    retries: n,
  })),
  wait: booleanSetting(
    'Sleep through usage limits until they are over; false pauses the run instead.',
    { usual: true },
    (wait) => ({
      wait,
    }),
  ),
  reset_stack: defineSetting(
    'What a <reset> does to the callers: "keep" them, or "clear" them unless it says stack="keep".',
    { usual: 'keep' },
    {
      expected: '"keep" or "clear"',
      jsonSchema: { enum: ['keep', 'clear'] },
      accepts: (value): value is 'keep' | 'clear' => value === 'keep' || value === 'clear',
    },
    (resetStack) => ({ resetStack }),
  ),
  permission_mode: textSetting(
    'What Claude Code may do, where the state does not say; what it would have to ask for is denied. Also: plan, dontAsk.',
    { usual: 'acceptEdits' },
    (permissionMode) => ({ permissionMode }),
  ),
  dangerously_skip_permissions: booleanSetting(
    'Let Claude Code do anything at all without asking. For machines that nobody minds losing.',
    { usual: false },
    (skipPermissions) => ({ skipPermissions }),
  ),
  debug: booleanSetting(
    'Keep the files of finished turns: what was sent, and what came back.',
    { usual: true },
    (debug) => ({
      debug,
    }),
  ),
  claude: textSetting(
    'The claude to use: its whole path, or a name on the PATH.',
    { example: '/usr/local/bin/claude', whenOmitted: 'the one on the PATH' },
    (claude) => ({ claude }),
  ),
};

/** The default of an option, or an example of it with what happens without. */
type SettingDefault<T> = { readonly usual: T } | { readonly example: T; readonly whenOmitted: string };

/** What an option takes: in words, as JSON Schema, and by the check. */
type ValueCheck<T extends ConfigValue> = Pick<Setting, 'expected' | 'jsonSchema'> & {
  readonly accepts: (value: unknown) => value is T;
};

/** A setting with its type kept between the check and the use. */
function defineSetting<T extends ConfigValue>(
  purpose: string,
  usual: SettingDefault<T>,
  check: ValueCheck<T>,
  toOptions: (value: T) => Partial<Options>,
): Setting {
  const sample = 'usual' in usual ? usual.usual : usual.example;
  const whenOmitted = 'usual' in usual ? null : usual.whenOmitted;
  return {
    purpose,
    sample,
    whenOmitted,
    ...check,
    toOptions: (value) => (check.accepts(value) ? toOptions(value) : {}),
  };
}

function textSetting(
  purpose: string,
  usual: SettingDefault<string>,
  toOptions: (value: string) => Partial<Options>,
): Setting {
  return defineSetting(
    purpose,
    usual,
    { expected: 'a text', jsonSchema: { type: 'string', pattern: '\\S' }, accepts: isText },
    toOptions,
  );
}

function booleanSetting(
  purpose: string,
  usual: SettingDefault<boolean>,
  toOptions: (value: boolean) => Partial<Options>,
): Setting {
  return defineSetting(
    purpose,
    usual,
    { expected: 'true or false', jsonSchema: { type: 'boolean' }, accepts: isBoolean },
    toOptions,
  );
}

function numberSetting(
  purpose: string,
  usual: SettingDefault<number>,
  toOptions: (value: number) => Partial<Options>,
): Setting {
  const jsonSchema = { type: 'number', minimum: 0, exclusiveMaximum: NUMBER_LIMIT };
  return defineSetting(purpose, usual, { expected: 'a number from 0', jsonSchema, accepts: isAmount }, toOptions);
}

function integerSetting(
  purpose: string,
  usual: SettingDefault<number>,
  toOptions: (value: number) => Partial<Options>,
): Setting {
  const jsonSchema = { type: 'integer', minimum: 0, exclusiveMaximum: NUMBER_LIMIT };
  return defineSetting(purpose, usual, { expected: 'a whole number from 0', jsonSchema, accepts: isCount }, toOptions);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < NUMBER_LIMIT;
}

function isCount(value: unknown): value is number {
  return isAmount(value) && Number.isInteger(value);
}
