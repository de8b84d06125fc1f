import type { Options } from '../core/options/options.ts';
import {
  formatWorkspace,
  GIT_ADDRESS_PATTERN,
  GIT_REF_PATTERN,
  type WorkspaceSource,
  workspaceProblem,
} from '../core/run/workspace.ts';
import type { FileFinding } from '../language/state.ts';
import { didYouMean } from '../language/text/nearest.ts';
import { VARIABLE_NAME_SCHEMA, variableNameProblem } from '../language/variable-names.ts';
import { type FindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import {
  describeYamlValue,
  readYamlFields,
  readYamlScalarText,
  type YamlField,
  type YamlValue,
} from '../yaml/value.ts';
import { HOST_LIST_VALUE, SANDBOX_VALUE } from './sandbox-keys.ts';
import { ARGUMENT_TEXT_SCHEMA, allowNull, type FrontmatterValueSchema } from './value-schemas.ts';
import {
  BACKEND_VALUE,
  BOOLEAN_OR_AUTO_VALUE,
  numberType,
  reportWrongType,
  TEXT_VALUE,
  type ValueType,
  wordType,
} from './value-types.ts';

/** The manifest `workflow.yaml` of a workflow; null for missing values. */
export interface Manifest {
  /** The short name that the ids of its runs are made from. */
  readonly id: string | null;
  /** The name of its runs in lists. */
  readonly name: string | null;
  readonly description: string | null;
  readonly input: ManifestInput;
  readonly budgetMicros: number | null;
  /** The folder that its agents work in, relative to where the user stands. */
  readonly workingDirectory: string | null;
  /** Variables of the environment of its scripts and of Claude Code, with `${NAME}` as it is written. */
  readonly environment: Readonly<Record<string, string>>;
  readonly variables: Options['variables'];
  /** `auto`: if a state permits `<ask>`. */
  readonly requiresHumanInput: boolean | 'auto';
  /** The git repository that its runs work in a clone of, as the option `workspace` has it. */
  readonly workspace: string | null;
  /** True if all its turns run in a sandbox. */
  readonly sandbox: boolean;
  /** The hosts that it needs in a sandbox: the user decides which of them it reaches. */
  readonly hosts: readonly string[];
}

/** A workflow's description of its input. */
export interface ManifestInput {
  readonly mode: 'required' | 'optional' | 'none';
  readonly label: string | null;
  readonly description: string | null;
}

/** A manifest with everything that is wrong with it. */
export interface ParsedManifest {
  readonly manifest: Manifest;
  readonly findings: readonly FileFinding[];
  /** Its content for comparison; left out if there is none. */
  readonly text?: string;
}

/** The file of a folder or zip that holds the manifest. */
export const MANIFEST_FILE = 'workflow.yaml';

/** The manifest of a workflow that has none. */
export const EMPTY_MANIFEST: Manifest = {
  id: null,
  name: null,
  description: null,
  input: { mode: 'optional', label: null, description: null },
  budgetMicros: null,
  workingDirectory: null,
  environment: {},
  variables: {},
  requiresHumanInput: false,
  workspace: null,
  sandbox: false,
  hosts: [],
};

/** One key of a manifest, or of a mapping in it: what it is for, the values that it takes, and how one is read. */
interface ManifestKey<Part> {
  readonly purpose: string;
  readonly schema: FrontmatterValueSchema;
  readonly read: (field: YamlField, report: FindingReport) => Partial<Part>;
}

type ManifestKeys<Part> = Readonly<Record<string, ManifestKey<Part>>>;

function manifestKey<Part, T>(
  purpose: string,
  { schema, read }: ValueType<T>,
  toPart: (value: T) => Partial<Part>,
): ManifestKey<Part> {
  return {
    purpose,
    schema,
    read: (field, report) => {
      const value = read(field, report);
      return value === undefined ? {} : toPart(value);
    },
  };
}

const INPUT_MODES: readonly ManifestInput['mode'][] = ['required', 'optional', 'none'];

const INPUT_MODE: ValueType<ManifestInput['mode']> = {
  schema: { type: ['string'], enum: [...INPUT_MODES, null] },
  read: (field, report) => {
    const { value } = field;
    const mode = INPUT_MODES.find((each) => value.kind === 'text' && value.text === each);
    return mode ?? reportWrongType(field, value, report, 'required, optional or none');
  },
};

const INPUT_KEYS: ManifestKeys<ManifestInput> = {
  mode: manifestKey('Whether a run needs an input: required, optional or none.', INPUT_MODE, (mode) => ({ mode })),
  label: manifestKey('What the input is, in a few words.', TEXT_VALUE, (label) => ({ label })),
  description: manifestKey('What the input is, for readers.', TEXT_VALUE, (description) => ({ description })),
};

const INPUT: ValueType<ManifestInput> = {
  schema: { type: ['object'], ...mappingSchema(INPUT_KEYS) },
  read: (field, report) =>
    field.value.kind === 'mapping'
      ? { ...EMPTY_MANIFEST.input, ...readManifestKeys(field.value, INPUT_KEYS, report) }
      : reportWrongType(field, field.value, report, 'a mapping with `mode`, `label` and `description`'),
};

/** A text that fits a pattern once the space around it is gone. */
const matching = (pattern: string): ValueType<string> => {
  const { schema, read } = wordType([]);
  const spaced = pattern.replace(/^\^/, '^\\s*(?=\\S)').replace(/\$$/, '\\s*$');
  return { schema: { ...schema, pattern: spaced }, read };
};

const WORKSPACE_KEYS: ManifestKeys<WorkspaceSource> = {
  git: manifestKey('The address of the git repository.', matching(GIT_ADDRESS_PATTERN), (git) => ({ git })),
  ref: manifestKey('A branch, tag or commit; without it, the default branch.', matching(GIT_REF_PATTERN), (ref) => ({
    ref,
  })),
};

const WORKSPACE_VALUE: ValueType<string> = {
  schema: { type: ['object'], required: ['git'], ...mappingSchema(WORKSPACE_KEYS, ['git']) },
  read: (field, report) => {
    if (field.value.kind !== 'mapping')
      return reportWrongType(field, field.value, report, 'a mapping with `git` and `ref`');
    const { git, ref = null } = readManifestKeys(field.value, WORKSPACE_KEYS, report);
    const text = git === undefined ? '' : formatWorkspace({ git, ref });
    const hasHash = git?.includes('#') === true || ref?.includes('#') === true;
    const problem = hasHash ? 'write what comes after the `#` of an address as `ref`' : workspaceProblem(text);
    if (problem === undefined) return text;
    report.error(field.value.at, `\`workspace\`: ${problem}`);
    return undefined;
  },
};

type NameProblem = (name: string) => string | undefined;

/** The names that a mapping may have: as JSON Schema, and why one is wrong. */
interface NameRule {
  readonly schema: object;
  readonly findProblem: NameProblem;
}

const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ENVIRONMENT_NAME_SCHEMA = { pattern: ENVIRONMENT_NAME.source, not: { pattern: '^RAYMOND_' } };

const environmentNameProblem: NameProblem = (name) => {
  if (!ENVIRONMENT_NAME.test(name))
    return `${quoteInMessage(name)} cannot be a variable of the environment: use letters, digits and \`_\``;
  return name.startsWith('RAYMOND_')
    ? `${quoteInMessage(name)} cannot be set here: names with RAYMOND_ are Raymond's own`
    : undefined;
};

/** Texts by name. Numbers and `true` are taken as they are written. */
const namedTexts = ({ schema: propertyNames, findProblem }: NameRule): ValueType<Readonly<Record<string, string>>> => ({
  schema: {
    type: ['object'],
    propertyNames,
    additionalProperties: { ...ARGUMENT_TEXT_SCHEMA, type: ['string', 'number', 'boolean', 'null'] },
  },
  read: (field, report) => {
    if (field.value.kind !== 'mapping')
      return reportWrongType(field, field.value, report, 'a mapping of names to texts');
    const texts = [...readYamlFields(field.value, report).values()].map((entry) => {
      const text = entry.value.kind === 'nothing' ? '' : readYamlScalarText(entry.value);
      const problem = findProblem(entry.name);
      if (problem !== undefined) report.error(entry.at, `\`${field.name}\`: ${problem}`);
      if (text === undefined) reportWrongType(entry, entry.value, report, 'a text');
      if (text?.includes('\0')) report.error(entry.value.at, `\`${entry.name}\` contains a NUL character: remove it`);
      return [entry.name, text ?? ''] as const;
    });
    return Object.fromEntries(texts);
  },
});

const DOLLARS_PER_RUN = numberType('a number of dollars, 0 for no limit', {
  isWhole: false,
  minimum: 0,
  exclusiveMaximum: 1e9,
});

/** The keys of a manifest. To add a key, add a row. */
export const MANIFEST_KEYS: ManifestKeys<Manifest> = {
  id: manifestKey('A short name, from which the ids of its runs are made.', wordType([]), (id) => ({ id })),
  name: manifestKey('The name of its runs in lists.', wordType([]), (name) => ({ name })),
  description: manifestKey('What the workflow is for, for readers.', TEXT_VALUE, (description) => ({ description })),
  input: manifestKey('What the workflow says about the input of its runs.', INPUT, (input) => ({ input })),
  default_budget: manifestKey(
    'The dollars that a run may spend where neither --budget nor the config says; 0 for no limit.',
    DOLLARS_PER_RUN,
    (dollars) => ({ budgetMicros: Math.round(dollars * 1_000_000) }),
  ),
  working_directory: manifestKey(
    'The folder that the agents work in, relative to where the run is started; --dir wins over it.',
    wordType([]),
    (workingDirectory) => ({ workingDirectory }),
  ),
  workspace: manifestKey(
    'A git repository: each run works in a clone of its own, on a branch that is pushed at its end; --workspace wins over it.',
    WORKSPACE_VALUE,
    (workspace) => ({ workspace }),
  ),
  environment: manifestKey(
    'Variables of the environment of scripts and of Claude Code; ${NAME} is the value outside.',
    namedTexts({ schema: ENVIRONMENT_NAME_SCHEMA, findProblem: environmentNameProblem }),
    (environment) => ({ environment }),
  ),
  vars: manifestKey(
    'Variables for every prompt and script; [vars] of the config and --var win over them.',
    namedTexts({ schema: VARIABLE_NAME_SCHEMA, findProblem: (name) => variableNameProblem(name, 'unix') }),
    (variables) => ({ variables }),
  ),
  requires_human_input: manifestKey(
    'Whether it needs answers from people, so that --on-ask fail is refused at the start; auto: if a state permits <ask>, or a workflow that it calls needs them.',
    BOOLEAN_OR_AUTO_VALUE,
    (requiresHumanInput) => ({ requiresHumanInput }),
  ),
  sandbox: manifestKey(
    'Runs all turns of this workflow in a sandbox: they change only their folders and reach only hosts that the user names.',
    SANDBOX_VALUE,
    (sandbox) => ({ sandbox }),
  ),
  hosts: manifestKey(
    'The hosts that it needs in a sandbox; a run that may not reach them is refused, with the flags that permit it.',
    HOST_LIST_VALUE,
    (hosts) => ({ hosts }),
  ),
  backend: manifestKey('The program that answers its prompts: claude.', BACKEND_VALUE, () => ({})),
};

/** Reads a manifest, and reports all that is wrong with it. */
export function readManifest(value: YamlValue | undefined, report: FindingReport): Manifest {
  if (value === undefined || value.kind === 'nothing') return EMPTY_MANIFEST;
  if (value.kind === 'mapping') return { ...EMPTY_MANIFEST, ...readManifestKeys(value, MANIFEST_KEYS, report) };
  const message = `a manifest is made of keys and values, such as \`default_budget: 5\`, not ${describeYamlValue(value)}`;
  report.error(value.at, message);
  return EMPTY_MANIFEST;
}

function readManifestKeys<Part>(
  mapping: Extract<YamlValue, { kind: 'mapping' }>,
  keys: ManifestKeys<Part>,
  report: FindingReport,
): Partial<Part> {
  let part: Partial<Part> = {};
  for (const field of readYamlFields(mapping, report).values()) {
    const key = Object.hasOwn(keys, field.name) ? keys[field.name] : undefined;
    if (key === undefined) {
      const suggestion = didYouMean(field.name, Object.keys(keys));
      report.warning(field.at, `the key ${quoteInMessage(field.name)} is unknown and has no effect${suggestion}`);
    } else if (field.value.kind !== 'nothing') {
      part = { ...part, ...key.read(field, report) };
    }
  }
  return part;
}

/** The JSON Schema of a mapping with these keys and no others; some of them may not be left empty. */
function mappingSchema<Part>(keys: ManifestKeys<Part>, filled: readonly string[] = []): object {
  const properties = Object.entries(keys).map(([name, { purpose, schema }]) => {
    return [name, { description: purpose, ...(filled.includes(name) ? schema : allowNull(schema)) }] as const;
  });
  return { properties: Object.fromEntries(properties), additionalProperties: false };
}
