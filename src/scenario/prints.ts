import type { Document } from './document.ts';
import type { Print } from './scenario.ts';

type Path = readonly (string | number)[];

/** The texts of all answers at a place of a file, one after the other. */
export function printsIn(document: Document, path: Path): readonly Print[] {
  const given = path.reduce<unknown>((value, step) => (isKeyed(value) ? value[step] : undefined), document.value);
  return printsOf(document, path, given);
}

function printsOf(document: Document, path: Path, given: unknown): readonly Print[] {
  if (typeof given === 'string') return [{ ...document.placeOf(path), text: given }];
  if (Array.isArray(given)) return given.flatMap((each, at) => printsOf(document, [...path, at], each));
  if (!isKeyed(given)) return [];
  return ['text', 'turns', 'visits'].flatMap((key) => printsOf(document, [...path, key], given[key]));
}

const isKeyed = (value: unknown): value is Readonly<Record<string | number, unknown>> =>
  typeof value === 'object' && value !== null;
