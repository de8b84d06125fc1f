import { microsOf } from '../core/ledger.ts';
import { effortName, modelName } from '../core/preference.ts';
import type { Options } from '../core/run.ts';

/** What can be written for an option in the config file. */
export type Plain = string | number | boolean;

/** One option of the config file: what it is for, what it takes, and what it makes of it. */
export interface Setting {
  readonly purpose: string;
  /** What may be written for it: its default, unless `otherwise` says that the default cannot be written. */
  readonly sample: Plain;
  /** What happens if it is left out, where no value says so. */
  readonly otherwise: string | null;
  readonly wanted: string;
  /** What fits, in the words of JSON Schema. */
  readonly shape: object;
  readonly fits: (value: unknown) => boolean;
  readonly option: (value: unknown) => Partial<Options>;
}

const TOO_MUCH = 1e9;

/** Every option that the config file knows. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  budget: amount(
    'Dollars a run may spend. Then it stops, and can be resumed with more. 0 for no limit.',
    { usual: 10 },
    (usd) => ({ budgetMicros: usd === 0 ? null : Math.max(1, microsOf(usd)) }),
  ),
  max_iterations: count(
    'Executions of states in a run. Then it stops, and can be resumed with more. 0 for no limit.',
    { usual: 0 },
    (most) => ({ maxIterations: most === 0 ? null : most }),
  ),
  model: text(
    'The model, where neither a tag nor the state asks for one: opus, sonnet, haiku, or a full name.',
    { example: 'sonnet', otherwise: 'the one that Claude Code chooses' },
    (name) => ({ model: modelName(name) }),
  ),
  effort: text(
    'How hard it thinks, where neither a tag nor the state asks for it: low, medium, high, xhigh or max.',
    { example: 'medium', otherwise: 'what Claude Code chooses' },
    (name) => ({ effort: effortName(name) }),
  ),
  timeout: amount(
    'Seconds a turn may be silent before it is ended, where its state does not say. 0 for never.',
    { example: 900, otherwise: '900 for Claude turns, never for scripts' },
    (seconds) => ({ timeoutMs: seconds === 0 ? 0 : Math.max(1, Math.round(seconds * 1000)) }),
  ),
  parallel: count('Claude turns at once; further ones wait. 0 for no limit.', { usual: 8 }, (most) => ({
    parallel: most === 0 ? null : most,
  })),
  reminders: count(
    'How often a state is reminded of its tags when its answer has none that fits.',
    { usual: 3 },
    (n) => ({
      reminders: n,
    }),
  ),
  retries: count('How often a turn is tried again that failed for a passing reason.', { usual: 3 }, (n) => ({
    retries: n,
  })),
  wait: onOff(
    'Sleep through usage limits until they are over; false pauses the run instead.',
    { usual: true },
    (wait) => ({
      wait,
    }),
  ),
  reset_stack: setting(
    'What a <reset> does to the callers: "keep" them, or "clear" them unless it says stack="keep".',
    { usual: 'keep' },
    {
      wanted: '"keep" or "clear"',
      shape: { enum: ['keep', 'clear'] },
      fits: (value): value is 'keep' | 'clear' => value === 'keep' || value === 'clear',
    },
    (resetStack) => ({ resetStack }),
  ),
  permission_mode: text(
    'What Claude Code may do, where the state does not say; what it would have to ask for is denied. Also: plan, dontAsk.',
    { usual: 'acceptEdits' },
    (permissionMode) => ({ permissionMode }),
  ),
  dangerously_skip_permissions: onOff(
    'Let Claude Code do anything at all without asking. For machines that nobody minds losing.',
    { usual: false },
    (skipPermissions) => ({ skipPermissions }),
  ),
  debug: onOff('Keep the files of finished turns: what was sent, and what came back.', { usual: true }, (debug) => ({
    debug,
  })),
  claude: text(
    'The claude to use: its whole path, or a name on the PATH.',
    { example: '/usr/local/bin/claude', otherwise: 'the one on the PATH' },
    (claude) => ({ claude }),
  ),
};

/** The default of an option, or an example of it with what happens without. */
type Usual<T> = { readonly usual: T } | { readonly example: T; readonly otherwise: string };

/** What an option takes: in words, as JSON Schema, and by the check. */
type Taken<T extends Plain> = Pick<Setting, 'wanted' | 'shape'> & { readonly fits: (value: unknown) => value is T };

/** A setting with its type kept between the check and the use. */
function setting<T extends Plain>(
  purpose: string,
  usual: Usual<T>,
  taken: Taken<T>,
  option: (value: T) => Partial<Options>,
): Setting {
  const sample = 'usual' in usual ? usual.usual : usual.example;
  const otherwise = 'usual' in usual ? null : usual.otherwise;
  return { purpose, sample, otherwise, ...taken, option: (value) => (taken.fits(value) ? option(value) : {}) };
}

function text(purpose: string, usual: Usual<string>, option: (value: string) => Partial<Options>): Setting {
  return setting(purpose, usual, { wanted: 'a text', shape: { type: 'string', pattern: '\\S' }, fits: isText }, option);
}

function onOff(purpose: string, usual: Usual<boolean>, option: (value: boolean) => Partial<Options>): Setting {
  return setting(purpose, usual, { wanted: 'true or false', shape: { type: 'boolean' }, fits: isSwitch }, option);
}

function amount(purpose: string, usual: Usual<number>, option: (value: number) => Partial<Options>): Setting {
  const shape = { type: 'number', minimum: 0, exclusiveMaximum: TOO_MUCH };
  return setting(purpose, usual, { wanted: 'a number from 0', shape, fits: isAmount }, option);
}

function count(purpose: string, usual: Usual<number>, option: (value: number) => Partial<Options>): Setting {
  const shape = { type: 'integer', minimum: 0, exclusiveMaximum: TOO_MUCH };
  return setting(purpose, usual, { wanted: 'a whole number from 0', shape, fits: isCount }, option);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isSwitch(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < TOO_MUCH;
}

function isCount(value: unknown): value is number {
  return isAmount(value) && Number.isInteger(value);
}
