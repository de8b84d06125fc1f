import { GUARD_OUTCOMES, type GuardOutcome, type Guards } from '../language/guards.ts';
import { didYouMean } from '../language/text/nearest.ts';
import type { TextPosition } from '../language/text/text.ts';
import { type FindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { readYamlFields, readYamlScalarText, type YamlField } from '../yaml/value.ts';
import { allowNull, type FrontmatterValueSchema, STATE_NAME_SCHEMA } from './value-schemas.ts';
import { COUNT_RANGE, numberType, reportWrongType, type ValueType, WORD_LIST, wordType } from './value-types.ts';

/** The guards in a state's frontmatter, as they are written; null where it does not say. */
export interface GuardFrontmatter {
  readonly retry: number | null;
  readonly on: Guards['on'];
  readonly maxVisitsPer: Guards['maxVisitsPer'] | null;
  readonly stuckAfter: number | null;
  readonly stuckFiles: readonly string[] | null;
}

/** The guards of a state without any. */
export const NO_GUARD_FRONTMATTER: GuardFrontmatter = {
  retry: null,
  on: {},
  maxVisitsPer: null,
  stuckAfter: null,
  stuckFiles: null,
};

interface GuardKey {
  readonly purpose: string;
  readonly schema: FrontmatterValueSchema;
  readonly read: (field: YamlField, report: FindingReport) => Partial<GuardFrontmatter>;
}

const OUTCOME_DESCRIPTIONS: Readonly<Record<GuardOutcome, string>> = {
  error: 'It failed, and no other key of `on` is about that.',
  timeout: 'It was silent for longer than its `timeout`.',
  denied: 'It could not do its work, because tools were not permitted.',
  too_long: 'The conversation does not fit into the context of the model.',
  no_tag: 'Its answer has no tag that can be followed.',
  max_visits: 'It may not be entered again.',
  stuck: 'It makes no progress: see `stuck_after`.',
};

const isGuardOutcome = (name: string): name is GuardOutcome => Object.hasOwn(OUTCOME_DESCRIPTIONS, name);

const OUTCOME_MAP: ValueType<Guards['on']> = {
  schema: {
    type: ['object'],
    properties: Object.fromEntries(
      GUARD_OUTCOMES.map((outcome) => {
        return [outcome, { description: OUTCOME_DESCRIPTIONS[outcome], ...allowNull(STATE_NAME_SCHEMA) }];
      }),
    ),
    additionalProperties: false,
  },
  read: (field, report) => {
    const { value } = field;
    if (value.kind !== 'mapping')
      return reportWrongType(field, value, report, 'a mapping of outcomes to states such as `{ error: FIX.md }`');
    const targets = [...readYamlFields(value, report).values()].flatMap((each) => readTarget(each, report));
    return Object.fromEntries(targets);
  },
};

function readTarget(field: YamlField, report: FindingReport): readonly (readonly [GuardOutcome, string])[] {
  const { name, at, value } = field;
  if (!isGuardOutcome(name)) {
    const known = didYouMean(name, GUARD_OUTCOMES) || `; the outcomes are ${GUARD_OUTCOMES.join(', ')}`;
    report.warning(at, `the outcome ${quoteInMessage(name)} in \`on\` is unknown and has no effect${known}`);
    return [];
  }
  if (value.kind === 'nothing') return [];
  const target = readYamlScalarText(value)?.trim();
  if (target === undefined || target === '') {
    reportWrongType({ ...field, name: `on.${name}` }, value, report, 'the name of a state');
    return [];
  }
  if (target.includes('\0')) {
    report.error(value.at, `\`on.${name}\` contains a NUL character: remove it`);
    return [];
  }
  return [[name, target]];
}

const PER_VALUE: ValueType<Guards['maxVisitsPer']> = {
  schema: { type: ['string'], enum: ['agent', 'call', null] },
  read: (field, report) => {
    const word = wordType([]).read(field, report);
    if (word === 'agent' || word === 'call' || word === undefined) return word;
    return reportWrongType(field, field.value, report, '`agent` or `call`');
  },
};

/** The keys of the frontmatter that say what is done if a state fails, is entered too often or makes no progress. */
export const GUARD_KEYS: Readonly<Record<string, GuardKey>> = {
  retry: guardKey(
    'How often this state is tried again after a failure, with growing delays, before anything else is done about it.',
    numberType('a whole number of at least 0', { ...COUNT_RANGE, minimum: 0 }),
    (retry) => ({ retry }),
  ),
  on: guardKey('The states to continue in instead of failing or stopping, by outcome.', OUTCOME_MAP, (on) => ({ on })),
  max_visits_per: guardKey(
    'Whether `max_visits` counts all visits of an agent (`agent`, the default), or those within one call (`call`).',
    PER_VALUE,
    (maxVisitsPer) => ({ maxVisitsPer }),
  ),
  stuck_after: guardKey(
    'How many visits in a row may end with the same answer while the git repository, or `stuck_files`, stays as it is.',
    numberType('a whole number of at least 2', { ...COUNT_RANGE, minimum: 2 }),
    (stuckAfter) => ({ stuckAfter }),
  ),
  stuck_files: guardKey(
    'The files that show progress, instead of the git repository: patterns, relative to the working directory.',
    WORD_LIST,
    (stuckFiles) => ({ stuckFiles }),
  ),
};

function guardKey<T>(
  purpose: string,
  { schema, read }: ValueType<T>,
  toFrontmatter: (value: T) => Partial<GuardFrontmatter>,
): GuardKey {
  return {
    purpose,
    schema,
    read: (field, report) => {
      const value = read(field, report);
      return value === undefined ? {} : toFrontmatter(value);
    },
  };
}

/** The positions of the states that `on` names, as further keys such as `on.error`. */
export function guardPositions(on: YamlField | undefined): Readonly<Record<string, TextPosition>> {
  if (on?.value.kind !== 'mapping') return {};
  const named = on.value.pairs.map(([key, value]) => [`on.${readYamlScalarText(key) ?? ''}`, value.at] as const);
  return Object.fromEntries(named);
}

/** The guards of a state; undefined if it has none. */
export function buildGuards({ retry, on, maxVisitsPer, stuckAfter, stuckFiles }: GuardFrontmatter): Guards | undefined {
  const hasNone = retry === null && maxVisitsPer === null && stuckAfter === null && Object.keys(on).length === 0;
  if (hasNone) return undefined;
  const stuck = stuckAfter === null ? null : { after: stuckAfter, files: stuckFiles };
  return { retry, on, maxVisitsPer: maxVisitsPer ?? 'agent', stuck };
}
