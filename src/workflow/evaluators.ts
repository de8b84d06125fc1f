import type { EntryPositions } from '../graph/workflow-source.ts';
import { normalizeEffort, normalizeModel } from '../language/claude-values.ts';
import type { Evaluator } from '../language/policy.ts';
import type { Platform } from '../language/state-names.ts';
import { didYouMean } from '../language/text/nearest.ts';
import { type FindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { describeYamlValue, readYamlFields, valuePositions, type YamlField, type YamlValue } from '../yaml/value.ts';
import { readPolicyEntry } from './allowed-transitions.ts';
import { ALLOWED_TRANSITIONS_SCHEMA, type FrontmatterValueSchema, NONBLANK_TEXT_SCHEMA } from './value-schemas.ts';

/** The evaluators of a state, and the position of each. */
export interface ReadEvaluators {
  readonly evaluators: readonly Evaluator[];
  readonly evaluatorPositions: readonly EntryPositions[];
}

const FORMS =
  '`{ match: "TODO", then: { tag: goto, target: FIX.md } }`, `{ script: GATE.sh }` or `{ prompt: JUDGE.md }`';
const KINDS = ['match', 'unless', 'script', 'prompt'] as const;
/** The keys that each kind of evaluator may have besides its own. */
const OTHER_KEYS = { match: ['then'], unless: ['then'], script: [], prompt: ['model', 'effort'] } as const;
const ALL_KEYS = [...KINDS, 'then', 'model', 'effort'];

/** Reads the value of `evaluator`: a list of evaluators, or a single one. One that cannot be read is in neither list. */
export function readEvaluators({ value }: YamlField, report: FindingReport, platform: Platform): ReadEvaluators {
  const items = value.kind === 'list' ? value.items : [value];
  const read = items.flatMap((item) => readEvaluator(item, report, platform) ?? []);
  return {
    evaluators: read.map(({ evaluator }) => evaluator),
    evaluatorPositions: read.map(({ positions }) => positions),
  };
}

function readEvaluator(
  item: YamlValue,
  report: FindingReport,
  platform: Platform,
): { readonly evaluator: Evaluator; readonly positions: EntryPositions } | undefined {
  if (item.kind !== 'mapping') {
    report.error(item.at, `an entry of \`evaluator\` must be ${FORMS}, not ${describeYamlValue(item)}`);
    return undefined;
  }
  const fields = readYamlFields(item, report);
  const [kind, second] = KINDS.filter((key) => fields.has(key));
  if (kind === undefined || second !== undefined) {
    const found = kind === undefined ? 'none of them is here' : `here are \`${kind}\` and \`${second}\``;
    report.error(item.at, `an entry of \`evaluator\` has one of \`${KINDS.join('`, `')}\`: ${found}; write ${FORMS}`);
    return undefined;
  }
  for (const field of fields.values()) checkKey(kind, field, report);
  const word = readWord(fields.get(kind), report);
  const positions = { at: item.at, keys: { ...valuePositions(fields), ...thenPositions(fields.get('then'), report) } };
  if (word === undefined) return undefined;
  if (kind === 'script') return { evaluator: { kind, file: word }, positions };
  if (kind === 'prompt') {
    const model = readWord(fields.get('model'), report);
    const effort = readWord(fields.get('effort'), report);
    const preference = {
      model: model === undefined ? null : normalizeModel(model),
      effort: effort === undefined ? null : normalizeEffort(effort),
    };
    return { evaluator: { kind, file: word, ...preference }, positions };
  }
  const then = fields.get('then');
  if (then === undefined) {
    const advice = 'add `then: { tag: goto, target: FIX.md }`, the transition to make instead';
    report.error(item.at, `an evaluator with \`${kind}\` needs \`then\`: ${advice}`);
    return undefined;
  }
  const instead = readPolicyEntry(then.value, report, platform, '`then`')?.entry;
  if (instead === undefined) return undefined;
  const overridesOn = kind === 'match' ? 'match' : 'mismatch';
  return { evaluator: { kind: 'pattern', pattern: word, overridesOn, instead }, positions };
}

function checkKey(kind: (typeof KINDS)[number], { name, at }: YamlField, report: FindingReport): void {
  const known: readonly string[] = [kind, ...OTHER_KEYS[kind]];
  if (known.includes(name)) return;
  if (ALL_KEYS.includes(name)) report.error(at, `\`${name}\` has no meaning beside \`${kind}\`: remove it`);
  else report.warning(at, `the key ${quoteInMessage(name)} is unknown and has no effect${didYouMean(name, ALL_KEYS)}`);
}

function readWord(field: YamlField | undefined, report: FindingReport): string | undefined {
  if (field === undefined || (field.value.kind === 'nothing' && field.name !== 'model' && field.name !== 'effort')) {
    if (field !== undefined) report.error(field.at, `\`${field.name}\` is empty: give it a value`);
    return undefined;
  }
  if (field.value.kind === 'nothing') return undefined;
  if (field.value.kind !== 'text') {
    report.error(field.value.at, `\`${field.name}\` must be a text, not ${describeYamlValue(field.value)}`);
    return undefined;
  }
  const { text } = field.value;
  const word = field.name === 'match' || field.name === 'unless' ? text : text.trim();
  if (word.trim() !== '' && !word.includes('\0')) return word;
  report.error(
    field.value.at,
    word.trim() === ''
      ? `\`${field.name}\` is empty: give it a value`
      : `\`${field.name}\` contains a NUL character: remove it`,
  );
  return undefined;
}

/** The positions of the values in a `then`, by key: `then.target`. What is wrong with it is reported elsewhere. */
function thenPositions(field: YamlField | undefined, report: FindingReport): EntryPositions['keys'] {
  if (field?.value.kind !== 'mapping') return {};
  const silent: FindingReport = { ...report, error: () => {}, warning: () => {} };
  const positions = valuePositions(readYamlFields(field.value, silent, (name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(positions).map(([key, at]) => [`then.${key}`, at]));
}

const describe = (description: string, schema: object): object => ({ description, ...schema });

const OPTIONAL_WORD_SCHEMA = { ...NONBLANK_TEXT_SCHEMA, type: ['string', 'null'] };
const INSTEAD_SCHEMA = describe(
  'The transition to make instead, as in `allowed_transitions`.',
  ALLOWED_TRANSITIONS_SCHEMA.items as object,
);

const formSchema = (properties: Readonly<Record<string, object>>, required: readonly string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const patternSchema = (key: string, description: string): object =>
  formSchema(
    Object.fromEntries([
      [key, describe(description, NONBLANK_TEXT_SCHEMA)],
      ['then', INSTEAD_SCHEMA],
    ]),
    [key, 'then'],
  );

const EVALUATOR_FORMS: readonly object[] = [
  patternSchema('match', 'Overrides if this regular expression matches the final message.'),
  patternSchema('unless', 'Overrides unless this regular expression matches the final message.'),
  formSchema(
    { script: describe('A script: exit code 0 without a tag confirms, a tag overrides.', NONBLANK_TEXT_SCHEMA) },
    ['script'],
  ),
  formSchema(
    {
      prompt: describe('A prompt that answers `<confirm></confirm>` or another tag.', NONBLANK_TEXT_SCHEMA),
      model: describe('The model of the judge.', OPTIONAL_WORD_SCHEMA),
      effort: describe('The effort of the judge.', OPTIONAL_WORD_SCHEMA),
    },
    ['prompt'],
  ),
];

/** The schema of `evaluator`: a list of evaluators, or one of them. */
export const EVALUATOR_SCHEMA: FrontmatterValueSchema = {
  type: ['array', 'object'],
  items: { anyOf: EVALUATOR_FORMS },
  anyOf: [{ type: ['array', 'null'] }, ...EVALUATOR_FORMS],
};
