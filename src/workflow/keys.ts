import type { Platform } from '../core/names.ts';
import type { Policy } from '../core/policy.ts';
import type { Preference } from '../core/position.ts';
import { effortName, modelName } from '../core/preference.ts';
import type { Settings } from '../core/state.ts';
import { type Reference, readTransitions } from './allowed-transitions.ts';
import type { Report } from './report.ts';
import { OFFERED, type Shape, TEXT, WORD, WORDS } from './shape.ts';
import { TRANSITIONS_SHAPE } from './transitions-shape.ts';
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

const SECONDS: Shape = { type: ['number'], minimum: 0, exclusiveMaximum: 2 ** 31 / 1000 };
const COUNT: Shape = { type: ['integer'], minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

/** One key of the frontmatter. */
export interface Key {
  readonly purpose: string;
  /** What `read` takes without an error, for editors. That a value may be left out need not be said. */
  readonly shape: Shape;
  /** Makes sense of the key's value, or reports why there is none in it. */
  readonly read: (field: Field, report: Report, platform: Platform) => Partial<Frontmatter>;
}

/** The keys of the frontmatter. A new one is a row here. */
export const KEYS: Readonly<Record<string, Key>> = {
  allowed_transitions: {
    purpose: 'The transitions that this state permits. Without it, or with an empty list, all of them.',
    shape: TRANSITIONS_SHAPE,
    read: readTransitions,
  },
  model: word(
    'The model of this state, unless the tag that leads here asks for another: opus, sonnet, haiku, or a full name.',
    OFFERED.model,
    (model) => ({ model: modelName(model) }),
  ),
  effort: word(
    'How hard it thinks in this state, unless the tag that leads here says so: low, medium, high, xhigh or max.',
    OFFERED.effort,
    (effort) => ({ effort: effortName(effort) }),
  ),
  timeout: number(
    'Seconds a turn may be silent before it is ended. 0 for never; 900 if nothing says otherwise.',
    { fits: isTimeout, wanted: 'a number of seconds from 0 (no limit) to 2147483', shape: SECONDS },
    (timeout) => ({ timeoutMs: timeout === 0 ? 0 : Math.max(1, Math.round(timeout * 1000)) }),
  ),
  max_visits: number(
    'How often one agent may enter this state. Then the agent stops.',
    { fits: isCount, wanted: 'a whole number from 1', shape: COUNT },
    (maxVisits) => ({ maxVisits }),
  ),
  permission_mode: word(
    'What Claude Code may do here; what it would have to ask for is denied. acceptEdits if nothing says otherwise.',
    ['acceptEdits', 'plan', 'dontAsk'],
    (permissionMode) => ({ permissionMode }),
  ),
  allowed_tools: words('Tools that Claude Code may use here without asking.', (allowedTools) => ({ allowedTools })),
  disallowed_tools: words('Tools that Claude Code may not use here.', (disallowedTools) => ({ disallowedTools })),
  append_system_prompt: text('What is added to the system prompt.', (appendSystemPrompt) => ({ appendSystemPrompt })),
  description: text('What this state is for, in words for people. It is not sent.', (description) => ({ description })),
  evaluator: unsupported(text('Not supported yet: it has no effect.', () => ({}))),
  force_implicit: unsupported({
    purpose: 'Not supported yet: it has no effect.',
    shape: { type: ['boolean'] },
    read: (field, report) => {
      if (field.value.kind !== 'boolean') wrong(field, field.value, report, 'true or false');
      return {};
    },
  }),
};

function isTimeout(seconds: number): boolean {
  // A longer one would not fit into a timer, which would then go off at once.
  return seconds >= 0 && seconds * 1000 < 2 ** 31;
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 1;
}

/** The numbers that a key takes: by the check, in words, and as JSON Schema. */
interface Numbers {
  readonly fits: (n: number) => boolean;
  readonly wanted: string;
  readonly shape: Shape;
}

function number(purpose: string, { fits, wanted, shape }: Numbers, use: (n: number) => Partial<Frontmatter>): Key {
  return {
    purpose,
    shape,
    read: (field, report) => {
      if (field.value.kind === 'number' && fits(field.value.number)) return use(field.value.number);
      wrong(field, field.value, report, wanted);
      return {};
    },
  };
}

function text(purpose: string, use: (written: string) => Partial<Frontmatter>): Key {
  return {
    purpose,
    shape: TEXT,
    read: (field, report) => {
      const read = textOf(field, field.value, report, 'a text');
      return read === undefined ? {} : use(read);
    },
  };
}

function word(purpose: string, examples: readonly string[], use: (written: string) => Partial<Frontmatter>): Key {
  return {
    purpose,
    shape: { ...WORD, examples },
    read: (field, report) => {
      const read = wordOf(field, field.value, report, 'a text');
      return read === undefined ? {} : use(read);
    },
  };
}

function words(purpose: string, use: (written: readonly string[]) => Partial<Frontmatter>): Key {
  return {
    purpose,
    shape: WORDS,
    read: (field, report) => {
      const items = field.value.kind === 'list' ? field.value.items() : [field.value];
      return use(items.flatMap((item) => wordOf(field, item, report, 'a text or a list of texts') ?? []));
    },
  };
}

function unsupported(key: Key): Key {
  return {
    ...key,
    read: (field, report, platform) => {
      report.warning(field.at, `\`${field.name}\` is not supported yet and has no effect`);
      return key.read(field, report, platform);
    },
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
