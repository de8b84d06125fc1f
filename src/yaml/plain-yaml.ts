import type { TextPosition } from '../core/text-position.ts';
import type { YamlValue } from './value.ts';

/** A text that YAML takes as it stands: `null` and `true` are none, and a very long one can be no key. */
const WORD = '(?!(?:null|true|false)(?![\\w./-]))[a-z_][\\w./-]{0,200}(?![\\w./-])';
const FIELD = new RegExp(`^(${WORD}):(?: +(${WORD}))? *$`, 'i');
const ITEM = new RegExp(`^( *)- +(?:(${WORD})|\\{ *${WORD}: +${WORD}(?: *, *${WORD}: +${WORD})* *\\}) *$`, 'i');
const PAIR = new RegExp(`(${WORD}): +(${WORD})`, 'gi');

/** A key with a word, or with the items of a list and the place of its first dash. */
interface Field {
  readonly key: YamlValue;
  readonly word: YamlValue | undefined;
  readonly items: YamlValue[];
  dash: TextPosition | undefined;
}

/**
 * Reads a block of YAML that begins on line 2 of its file, if it is as plain as most frontmatter is: `key: word`, and
 * lists of words or of `{ key: word }`. That takes a tenth of the parser's time. Undefined for all else, right or wrong.
 */
export function readPlainYaml(block: string): YamlValue | undefined {
  const fields: Field[] = [];
  for (const [index, text] of block.split('\n').entries()) {
    if (text === '') continue;
    const field = fieldOn(text, index + 2);
    if (field !== undefined) fields.push(field);
    else if (!addItem(fields.at(-1), text, index + 2)) return undefined;
  }
  const pairs = fields.flatMap(({ key, word, items, dash }) => {
    const value = word ?? (dash && ({ kind: 'list', at: dash, items: () => items } as const));
    return value === undefined ? [] : [[key, value] as const];
  });
  const [first] = fields;
  if (first === undefined || pairs.length < fields.length) return undefined;
  return { kind: 'mapping', at: first.key.at, pairs: () => pairs };
}

function fieldOn(text: string, line: number): Field | undefined {
  const [, key, word] = FIELD.exec(text) ?? [];
  if (key === undefined) return undefined;
  const value = word === undefined ? undefined : wordAt(word, line, text.indexOf(word, key.length));
  return { key: wordAt(key, line, 0), word: value, items: [], dash: undefined };
}

/** Whether this line is one more item of a field's list. */
function addItem(field: Field | undefined, text: string, line: number): boolean {
  const [, indent, word] = ITEM.exec(text) ?? [];
  if (field === undefined || field.word !== undefined || indent === undefined) return false;
  field.dash ??= { line, column: indent.length + 1 };
  field.items.push(word === undefined ? mappingOn(text, line) : wordAt(word, line, text.indexOf(word)));
  return field.dash.column === indent.length + 1;
}

function mappingOn(text: string, line: number): YamlValue {
  const pairs = Array.from(text.matchAll(PAIR), ({ 0: whole, 1: key = '', 2: word = '', index }) => {
    return [wordAt(key, line, index), wordAt(word, line, index + whole.length - word.length)] as const;
  });
  return { kind: 'mapping', at: { line, column: text.indexOf('{') + 1 }, pairs: () => pairs };
}

const wordAt = (text: string, line: number, offset: number): YamlValue => ({
  kind: 'text',
  at: { line, column: offset + 1 },
  text,
});
