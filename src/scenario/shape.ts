import type { z } from 'zod';
import { WANTS_TEXT } from './answer-schema.ts';
import { complaintsOf } from './complaint.ts';
import { type Document, type Fault, valueAt } from './document.ts';
import { type GivenFile, SCENARIO } from './schema.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** What a scenario file says, whatever its workflow: null if something is wrong with it. */
export interface Shape {
  readonly document: Document;
  readonly given: GivenFile | null;
  readonly faults: readonly Fault[];
}

/** Reads a document as a scenario file. Where a text is wanted, `5`, `1.50` and `true` are texts, as they are written. */
export function shapeOf(document: Document): Shape {
  const parsed = SCENARIO.safeParse(document.value);
  if (parsed.success) return { document, given: parsed.data, faults: [] };
  const places = textsWantedBy(parsed.error.issues).filter((path) => isPlain(valueAt(document.value, path)));
  if (places.length > 0) return shapeOf(withTextsAt(places, document));
  return { document, given: null, faults: complaintsOf(parsed.error.issues, document) };
}

/** Where a text is wanted and something else was found. */
function textsWantedBy(issues: readonly Issue[], above: Path = []): readonly Path[] {
  return issues.flatMap((issue) => {
    const path = [...above, ...issue.path];
    const inner = issue.code === 'invalid_union' ? issue.errors.flatMap((branch) => textsWantedBy(branch, path)) : [];
    return issue.message === WANTS_TEXT ? [path, ...inner] : inner;
  });
}

const isPlain = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';

function withTextsAt(places: readonly Path[], document: Document): Document {
  const value = structuredClone(document.value);
  for (const path of places) {
    const around = valueAt(value, path.slice(0, -1)) as Record<PropertyKey, unknown>;
    const last = path.at(-1) ?? '';
    around[last] = document.writtenAt(path) ?? String(around[last]);
  }
  return { ...document, value };
}
