import { type Place, quote, type Report } from './report.ts';

/**
 * A value of the frontmatter with its place in the file. What a list or a mapping holds is worked out only when asked
 * for: an alias may make a value contain itself, or unfold to more than fits into memory.
 */
export type Value =
  | { readonly kind: 'nothing'; readonly at: Place }
  | { readonly kind: 'text'; readonly at: Place; readonly text: string }
  | { readonly kind: 'number'; readonly at: Place; readonly number: number; readonly source: string }
  | { readonly kind: 'boolean'; readonly at: Place; readonly boolean: boolean; readonly source: string }
  | { readonly kind: 'list'; readonly at: Place; items(): readonly Value[] }
  | { readonly kind: 'mapping'; readonly at: Place; pairs(): readonly (readonly [key: Value, value: Value])[] };

export type Mapping = Extract<Value, { kind: 'mapping' }>;

/** One key of a mapping and what it is given. */
export interface Field {
  readonly name: string;
  readonly at: Place;
  readonly value: Value;
}

/** What a message says was found. */
export function describe(value: Value): string {
  switch (value.kind) {
    case 'nothing':
      return 'nothing';
    case 'text':
      return `the text ${quote(value.text)}`;
    case 'number':
      return `the number ${quote(value.source)}`;
    case 'boolean':
      return quote(value.source);
    case 'list':
      return 'a list';
    case 'mapping':
      return 'a mapping';
  }
}

/** A scalar as the author wrote it: `1.50` stays `1.50`. Undefined if there is nothing, or not a scalar. */
export function written(value: Value): string | undefined {
  if (value.kind === 'text') return value.text;
  return value.kind === 'number' || value.kind === 'boolean' ? value.source : undefined;
}

/** The keys of a mapping by name, in their order. `fold` says which spellings of a key are the same key. */
export function readFields(
  mapping: Mapping,
  report: Report,
  fold: (name: string) => string = (name) => name,
): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const [key, value] of mapping.pairs()) {
    const name = written(key);
    if (name === undefined) {
      report.error(key.at, `a key must be a word, not ${describe(key)}`);
    } else if (name === '<<') {
      report.error(key.at, 'merge keys (`<<`) are not supported: write the keys out');
    } else {
      const before = fields.get(fold(name));
      if (before === undefined) fields.set(fold(name), { name: fold(name), at: key.at, value });
      else report.error(key.at, `${quote(name)} is given twice: on line ${before.at.line} and here; keep one of them`);
    }
  }
  return fields;
}
