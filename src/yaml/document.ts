import { stringify } from 'yaml';
import type { TextPosition } from '../language/text/text.ts';
import { type FindingReport, isErrorFinding } from './finding-report.ts';
import { readYaml } from './read-yaml.ts';
import { readYamlFields, readYamlScalarText, type YamlValue } from './value.ts';

/** Something wrong in a file, and where. */
export interface DocumentProblem extends TextPosition {
  readonly message: string;
}

/** The keys and indexes that lead to a value of a document. */
export type YamlPath = readonly PropertyKey[];

/** A YAML file as plain data, with the positions of everything in it. */
export interface YamlDocument {
  readonly value: unknown;
  /** The position of a value; of what is not there, that of the nearest thing around it. */
  positionOf(path: YamlPath): TextPosition;
  /** The position of the last key of a path. */
  positionOfKey(path: YamlPath): TextPosition;
  /** A single value as it is written: `1.50`, where the value is 1.5; undefined for anything else. */
  sourceAt(path: YamlPath): string | undefined;
}

/** Reads a file of YAML as plain data. Undefined if that cannot be done; the report then says why. */
export function parseYamlDocument(text: string, report: FindingReport): YamlDocument | undefined {
  const root = readYaml(text, report);
  const value = root && toPlainData(root, report);
  if (root === undefined || report.findings.some(isErrorFinding)) return undefined;
  return {
    value,
    positionOf: (path) => locate(root, path).at,
    positionOfKey: (path) => locate(root, path).keyAt,
    sourceAt: (path) => {
      const { value: found } = locate(root, path);
      return found && readYamlScalarText(found);
    },
  };
}

function toPlainData(value: YamlValue, report: FindingReport): unknown {
  switch (value.kind) {
    case 'nothing':
      return null;
    case 'text':
      return value.text;
    case 'number':
      return value.number;
    case 'boolean':
      return value.boolean;
    case 'list':
      return value.items.map((item) => toPlainData(item, report));
    case 'mapping': {
      const fields = [...readYamlFields(value, report).values()];
      return Object.fromEntries(fields.map((field) => [field.name, toPlainData(field.value, report)]));
    }
  }
}

interface Located {
  readonly value: YamlValue | undefined;
  readonly at: TextPosition;
  readonly keyAt: TextPosition;
}

/** Follows a path as far as it goes. */
function locate(root: YamlValue, path: YamlPath): Located {
  let located: Located = { value: root, at: root.at, keyAt: root.at };
  for (const step of path) {
    const { value: parent, at: parentAt } = located;
    const [key, value] = parent === undefined ? [] : childOf(parent, step);
    located = { value, at: value?.at ?? parentAt, keyAt: key?.at ?? parentAt };
  }
  return located;
}

type Child = readonly [key: YamlValue | undefined, value: YamlValue | undefined] | readonly [];

function childOf(parent: YamlValue, step: PropertyKey): Child {
  if (parent.kind === 'list') return [undefined, parent.items[Number(step)]];
  if (parent.kind !== 'mapping') return [];
  return parent.pairs.find(([key]) => readYamlScalarText(key) === String(step)) ?? [];
}

/** A value that should be a list; nothing is in one that is not. */
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A value that should be a mapping; nothing is in one that is not. */
export const asMapping = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** Finds the value at a path of plain data; undefined if there is no such path. */
export function valueAtPath(root: unknown, path: YamlPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

/** Writes plain data as the text of a YAML file, under a comment. */
export function formatYamlDocument(value: object, comment: string): string {
  const lines = comment.split('\n').map((line) => `# ${line}`.trimEnd());
  return `${lines.join('\n')}\n${stringify(value, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false })}`;
}
