import type { TextPosition } from '../language/text/text.ts';
import { type FindingReport, quoteInMessage } from './finding-report.ts';

/** A value with its position in the file; an alias is what it stands for, at its own position. */
export type YamlValue =
  | { readonly kind: 'nothing'; readonly at: TextPosition }
  | { readonly kind: 'text'; readonly at: TextPosition; readonly text: string }
  | { readonly kind: 'number'; readonly at: TextPosition; readonly number: number; readonly source: string }
  | { readonly kind: 'boolean'; readonly at: TextPosition; readonly boolean: boolean; readonly source: string }
  | { readonly kind: 'list'; readonly at: TextPosition; readonly items: readonly YamlValue[] }
  | {
      readonly kind: 'mapping';
      readonly at: TextPosition;
      readonly pairs: readonly (readonly [key: YamlValue, value: YamlValue])[];
    };

/** A mapping, whose keys may be anything, and may be given twice. */
export type YamlMapping = Extract<YamlValue, { kind: 'mapping' }>;

/** One key of a mapping, with its position and its value. */
export interface YamlField {
  readonly name: string;
  readonly at: TextPosition;
  readonly value: YamlValue;
}

/** Describes a value for a message that says what was found. */
export function describeYamlValue(value: YamlValue): string {
  switch (value.kind) {
    case 'nothing':
      return 'nothing';
    case 'text':
      return `the text ${quoteInMessage(value.text)}`;
    case 'number':
      return `the number ${quoteInMessage(value.source)}`;
    case 'boolean':
      return quoteInMessage(value.source);
    case 'list':
      return 'a list';
    case 'mapping':
      return 'a mapping';
  }
}

/** A scalar as the author wrote it: `1.50` stays `1.50`. Undefined if there is nothing, or not a scalar. */
export function readYamlScalarText(value: YamlValue): string | undefined {
  if (value.kind === 'text') return value.text;
  return value.kind === 'number' || value.kind === 'boolean' ? value.source : undefined;
}

/** A value as JSON, without its positions: two that say the same have the same text. */
export const formatYamlData = (value: YamlValue): string => JSON.stringify(toData(value));

function toData(value: YamlValue): unknown {
  switch (value.kind) {
    case 'nothing':
      return null;
    case 'text':
      return value.text;
    case 'number':
    case 'boolean':
      return { source: value.source };
    case 'list':
      return value.items.map(toData);
    case 'mapping':
      return { pairs: value.pairs.map(([key, each]) => [toData(key), toData(each)]) };
  }
}

/**
 * Reads the keys of a mapping by name, in their order, and reports those that are not words or are given twice.
 * `normalizeKey` makes different spellings of a key the same.
 */
export function readYamlFields(
  mapping: YamlMapping,
  report: FindingReport,
  normalizeKey: (name: string) => string = (name) => name,
): ReadonlyMap<string, YamlField> {
  const fields = new Map<string, YamlField>();
  for (const [key, value] of mapping.pairs) {
    const name = readYamlScalarText(key);
    if (name === undefined) {
      report.error(key.at, `a key must be a word, not ${describeYamlValue(key)}`);
    } else {
      const existing = fields.get(normalizeKey(name));
      if (existing === undefined) fields.set(normalizeKey(name), { name: normalizeKey(name), at: key.at, value });
      else
        report.error(
          key.at,
          `${quoteInMessage(name)} is given twice: on line ${existing.at.line} and here; keep one of them`,
        );
    }
  }
  return fields;
}

/** The positions of the values of some fields, by key. */
export const valuePositions = (fields: ReadonlyMap<string, YamlField>): Readonly<Record<string, TextPosition>> =>
  Object.fromEntries([...fields].map(([name, { value }]) => [name, value.at]));
