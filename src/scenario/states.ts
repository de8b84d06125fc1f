import { isPrompt, resolveState, type Scope } from '../core/names.ts';
import type { Document, Fault } from './document.ts';

export const OF_SCRIPTS = ['exit', 'stderr'];
export const OF_PROMPTS = ['uses', 'deny', 'cost', 'fail', 'resets_in'];

/** The states that a file's keys mean, by key, and what is wrong with them: each must be one of the workflow. */
export function meantStates(
  document: Document,
  scope: Scope,
): { readonly files: ReadonlyMap<string, string>; readonly faults: readonly Fault[] } {
  const files = new Map<string, string>();
  const faults: Fault[] = [];
  for (const [name, value] of Object.entries(mapping(mapping(document.value).answers))) {
    const path = ['answers', name];
    const wrong = (message: string): void => void faults.push({ ...document.placeOfKey(path), message });
    const found = resolveState(name, scope);
    if (found.kind === 'found') {
      if ([...files.values()].includes(found.file)) wrong(`\`${name}\` is ${found.file} again: keep one of them`);
      files.set(name, found.file);
      faults.push(...misplaced(document, path, value, found.file));
    } else if (found.kind !== 'foreign') wrong(found.message);
  }
  return { files, faults };
}

/** Keys that mean nothing in a state of this kind, in answers and lists of them. */
function misplaced(
  document: Document,
  path: readonly (string | number)[],
  value: unknown,
  file: string,
): readonly Fault[] {
  if (Array.isArray(value)) return value.flatMap((each, at) => misplaced(document, [...path, at], each, file));
  const given = mapping(value);
  const strangers = (isPrompt(file) ? OF_SCRIPTS : OF_PROMPTS).filter((key) => Object.hasOwn(given, key));
  const kind = isPrompt(file) ? 'prompt' : 'script';
  return [
    ...strangers.map((key) => {
      return { ...document.placeOfKey([...path, key]), message: `\`${key}\` means nothing here: ${file} is a ${kind}` };
    }),
    ...['turns', 'visits']
      .filter((key) => Array.isArray(given[key]))
      .flatMap((key) => misplaced(document, [...path, key], given[key], file)),
  ];
}

const mapping = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
