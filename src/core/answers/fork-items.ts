import { shortenForMessage } from '../../language/problem.ts';
import type { Platform } from '../../language/state-names.ts';
import { describeJsonProblem, tryParseJson } from '../../language/text/json.ts';
import type { ForkItem } from '../../language/transitions/transition.ts';
import { variableNameProblem } from '../../language/variable-names.ts';

/** The variable that has the item, unless the tag names another. */
const DEFAULT_ITEM_NAME = 'item';

/** The variable that has the number of the item, from 1. */
const INDEX_NAME = 'index';

/**
 * Reads the items of a file: the elements of an array in a `.json` file, the lines of JSON in a `.jsonl` or `.ndjson` file,
 * and of any other file the lines that are not blank. A text says what is wrong with the file.
 */
export function readForkItems(
  file: string,
  text: string,
  as: string | undefined,
  platform: Platform,
): readonly ForkItem[] | string {
  const content = text.replace(/^\uFEFF/, '');
  const values = readValues(file, content);
  if (typeof values === 'string') return values;
  const items: ForkItem[] = [];
  for (const [index, { value, place }] of values.entries()) {
    const item = toItem(value, index + 1, as);
    const problem = Object.entries(item.variables)
      .map(([name, each]) => variableNameProblem(name, platform) ?? nulProblem(name, each))
      .find((found) => found !== undefined);
    if (problem !== undefined) return `${place}: ${problem}`;
    items.push(item);
  }
  return items;
}

interface PlacedValue {
  readonly value: unknown;
  /** Where it stands in the file, for messages. */
  readonly place: string;
}

function readValues(file: string, content: string): readonly PlacedValue[] | string {
  if (/\.json$/i.test(file)) return readArray(content);
  const isJsonLines = /\.(jsonl|ndjson)$/i.test(file);
  const values: PlacedValue[] = [];
  let number = 0;
  for (const line of content.split('\n')) {
    number += 1;
    const trimmed = line.trim();
    if (trimmed === '') continue;
    const value = isJsonLines ? tryParseJson(trimmed) : trimmed;
    if (value === undefined) return `line ${number} is not JSON: \`${shortenForMessage(trimmed)}\``;
    values.push({ value, place: `line ${number}` });
  }
  return values;
}

function readArray(content: string): readonly PlacedValue[] | string {
  if (content.trim() === '') return [];
  const parsed = tryParseJson(content);
  if (parsed === undefined) {
    const why = describeJsonProblem(content) ?? '';
    return `it is not JSON (${why}); items that are not JSON belong in a file with another extension, one per line`;
  }
  if (!Array.isArray(parsed))
    return 'it is not a JSON array; objects that stand one per line belong in a `.jsonl` file';
  return parsed.map((value: unknown, index) => ({ value, place: `element ${index + 1}` }));
}

/** The fields of an object are variables, and its `input` is what the worker gets; any other value is one variable. */
function toItem(value: unknown, index: number, as: string | undefined): ForkItem {
  const number = [INDEX_NAME, String(index)] as const;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { variables: Object.fromEntries([[as ?? DEFAULT_ITEM_NAME, toText(value)], number]), input: null };
  }
  const { input, ...fields } = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, toText(each)] as const),
  );
  const whole = as === undefined ? [] : [[as, JSON.stringify(value)] as const];
  return { variables: Object.fromEntries([...Object.entries(fields), number, ...whole]), input: input ?? null };
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const nulProblem = (name: string, value: string): string | undefined =>
  value.includes('\0') ? `\`${shortenForMessage(name)}\` contains a NUL character` : undefined;
