import type { Platform } from '../core/names.ts';
import type { Policy } from '../core/policy.ts';
import type { Preference } from '../core/position.ts';
import { effortName, modelName } from '../core/preference.ts';
import type { Settings } from '../core/state.ts';
import { type Reference, readTransitions } from './allowed-transitions.ts';
import type { Report } from './report.ts';
import { describe, type Field, type Value } from './value.ts';

/** Everything that the frontmatter of a prompt can say. */
export interface Frontmatter extends Preference, Settings {
  readonly description: string | null;
  readonly maxVisits: number | null;
  readonly policy: Policy;
  /** The states that the policy names, with the places where it does. */
  readonly references: readonly Reference[];
}

/** What no frontmatter says. */
export const EMPTY: Frontmatter = {
  model: null,
  effort: null,
  timeoutMs: null,
  permissionMode: null,
  allowedTools: null,
  disallowedTools: null,
  appendSystemPrompt: null,
  description: null,
  maxVisits: null,
  policy: [],
  references: [],
};

/** Makes sense of one key's value, or reports why there is none in it. */
type Decoder = (field: Field, report: Report, platform: Platform) => Partial<Frontmatter>;

/** The keys of the frontmatter. A new one is a row here. */
export const KEYS: Readonly<Record<string, Decoder>> = {
  allowed_transitions: readTransitions,
  model: word((model) => ({ model: modelName(model) })),
  effort: word((effort) => ({ effort: effortName(effort) })),
  timeout: number(isTimeout, 'a number of seconds from 0 (no limit) to 2147483', (timeout) => ({
    timeoutMs: timeout === 0 ? 0 : Math.max(1, Math.round(timeout * 1000)),
  })),
  max_visits: number(isCount, 'a whole number from 1', (maxVisits) => ({ maxVisits })),
  permission_mode: word((permissionMode) => ({ permissionMode })),
  allowed_tools: words((allowedTools) => ({ allowedTools })),
  disallowed_tools: words((disallowedTools) => ({ disallowedTools })),
  append_system_prompt: text((appendSystemPrompt) => ({ appendSystemPrompt })),
  description: text((description) => ({ description })),
  evaluator: unsupported(text(() => ({}))),
  force_implicit: unsupported((field, report) => {
    if (field.value.kind !== 'boolean') wrong(field, field.value, report, 'true or false');
    return {};
  }),
};

function isTimeout(seconds: number): boolean {
  // A longer one would not fit into a timer, which would then go off at once.
  return seconds >= 0 && seconds * 1000 < 2 ** 31;
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 1;
}

function number(fits: (n: number) => boolean, wanted: string, use: (n: number) => Partial<Frontmatter>): Decoder {
  return (field, report) => {
    if (field.value.kind === 'number' && fits(field.value.number)) return use(field.value.number);
    wrong(field, field.value, report, wanted);
    return {};
  };
}

function text(use: (written: string) => Partial<Frontmatter>): Decoder {
  return (field, report) => {
    const read = textOf(field, field.value, report, 'a text');
    return read === undefined ? {} : use(read);
  };
}

function word(use: (written: string) => Partial<Frontmatter>): Decoder {
  return (field, report) => {
    const read = wordOf(field, field.value, report, 'a text');
    return read === undefined ? {} : use(read);
  };
}

function words(use: (written: readonly string[]) => Partial<Frontmatter>): Decoder {
  return (field, report) => {
    const items = field.value.kind === 'list' ? field.value.items() : [field.value];
    return use(items.flatMap((item) => wordOf(field, item, report, 'a text or a list of texts') ?? []));
  };
}

function unsupported(check: Decoder): Decoder {
  return (field, report, platform) => {
    report.warning(field.at, `\`${field.name}\` is not supported yet and has no effect`);
    return check(field, report, platform);
  };
}

function wordOf(field: Field, value: Value, report: Report, wanted: string): string | undefined {
  const read = textOf(field, value, report, wanted)?.trim();
  if (read === '') report.error(value.at, `\`${field.name}\` is empty: give it a value or remove it`);
  return read === '' ? undefined : read;
}

function textOf(field: Field, value: Value, report: Report, wanted: string): string | undefined {
  if (value.kind !== 'text') {
    const scalar = value.kind === 'number' || value.kind === 'boolean';
    wrong(field, value, report, wanted, scalar ? '; put it in quotes if it is meant' : '');
    return undefined;
  }
  // It ends up in the arguments of a command, which cannot hold one.
  if (!value.text.includes('\0')) return value.text;
  report.error(value.at, `\`${field.name}\` contains a NUL character: remove it`);
  return undefined;
}

function wrong(field: Field, value: Value, report: Report, wanted: string, advice = ''): void {
  report.error(value.at, `\`${field.name}\` must be ${wanted}, not ${describe(value)}${advice}`);
}
