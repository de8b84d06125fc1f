import type { TextPosition } from '../core/text-position.ts';
import { type FindingReport, quoteInMessage } from './finding-report.ts';

/**
 * A value of the frontmatter with its place in the file. What a list or a mapping holds is worked out only when asked
 * for: an alias may make a value contain itself, or unfold to more than fits into memory.
 */
export type YamlValue =
  | { readonly kind: 'nothing'; readonly at: TextPosition }
  | { readonly kind: 'text'; readonly at: TextPosition; readonly text: string }
  | { readonly kind: 'number'; readonly at: TextPosition; readonly number: number; readonly source: string }
  | { readonly kind: 'boolean'; readonly at: TextPosition; readonly boolean: boolean; readonly source: string }
  | { readonly kind: 'list'; readonly at: TextPosition; items(): readonly YamlValue[] }
  | {
      readonly kind: 'mapping';
      readonly at: TextPosition;
      pairs(): readonly (readonly [key: YamlValue, value: YamlValue])[];
    };

export type YamlMapping = Extract<YamlValue, { kind: 'mapping' }>;

/** One key of a mapping and what it is given. */
export interface YamlField {
  readonly name: string;
  readonly at: TextPosition;
  readonly value: YamlValue;
}

/** What a message says was found. */
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

/** The keys of a mapping by name, in their order. `fold` says which spellings of a key are the same key. */
export function readYamlFields(
  mapping: YamlMapping,
  report: FindingReport,
  normalizeKey: (name: string) => string = (name) => name,
): ReadonlyMap<string, YamlField> {
  const fields = new Map<string, YamlField>();
  for (const [key, value] of mapping.pairs()) {
    const name = readYamlScalarText(key);
    if (name === undefined) {
      report.error(key.at, `a key must be a word, not ${describeYamlValue(key)}`);
    } else if (name === '<<') {
      report.error(key.at, 'merge keys (`<<`) are not supported: write the keys out');
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
