import type { YamlDocument } from '../yaml/document.ts';
import type { CannedOutput } from './scenario.ts';

type Path = readonly (string | number)[];

/** The texts of all answers at a place of a file, one after the other. */
export function readCannedOutputs(document: YamlDocument, path: Path): readonly CannedOutput[] {
  const content = path.reduce<unknown>((value, step) => (isKeyed(value) ? value[step] : undefined), document.value);
  return collectCannedOutputs(document, path, content);
}

function collectCannedOutputs(document: YamlDocument, path: Path, content: unknown): readonly CannedOutput[] {
  if (typeof content === 'string') return [{ ...document.positionOf(path), text: content }];
  if (Array.isArray(content)) return content.flatMap((each, at) => collectCannedOutputs(document, [...path, at], each));
  if (!isKeyed(content)) return [];
  return ['text', 'turns', 'visits'].flatMap((key) => collectCannedOutputs(document, [...path, key], content[key]));
}

const isKeyed = (value: unknown): value is Readonly<Record<string | number, unknown>> =>
  typeof value === 'object' && value !== null;
