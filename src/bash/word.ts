import type { AnsiCQuotedPart, HereDoc, ParameterExpansionPart, Script, Word, WordPart } from 'unbash';
import { UNKNOWN } from '../language/tags/tag-mentions.ts';
import { memoize } from '../language/text/memoize.ts';
import { type MappedText, MappedTextBuilder } from './mapped-text.ts';

/** One word with its quotes removed; expansions have become UNKNOWN. */
export interface WordText extends MappedText {
  readonly at: number;
  /** The variables whose values it takes. */
  readonly variables: readonly string[];
  readonly substitutions: readonly Substitution[];
}

/** A command or process substitution. */
export interface Substitution {
  readonly at: number;
  readonly text: string;
  readonly script: Script;
}

/** Removes the quotes of a word. */
export const readWord = memoize(({ pos, text, parts }: Word): WordText => buildText(pos, text, parts, UNQUOTED_ESCAPE));

/** Reads the body of a here document, which has expansions unless its delimiter is quoted. */
export const readDocument = ({ body, delimiter }: HereDoc): WordText =>
  delimiter?.quoted === true
    ? plainWord(body.text, body.pos)
    : buildText(body.pos, body.text, body.parts, DOCUMENT_ESCAPE);

/** A word that is itself and nothing else, such as an operator. */
export const plainWord = (text: string, at: number, variables: readonly string[] = []): WordText => ({
  text,
  at,
  pieces: [[0, at]],
  placeholders: [],
  variables,
  substitutions: [],
});

const UNQUOTED_ESCAPE = /\\[\s\S]/g;
const QUOTED_ESCAPE = /\\[$`"\\\n]/g;
const DOCUMENT_ESCAPE = /\\[$`\\\n]/g;
const ANSI_C_CHARACTER = /\\(?:x[\da-f]{1,2}|u[\da-f]{1,4}|U[\da-f]{1,8}|[0-7]{1,3}|c?[\s\S])|[^\\]+/gi;

/** A default value without quotes and expansions. */
const PLAIN_DEFAULT = /^[\w.-]*$/;

function buildText(at: number, text: string, parts: readonly WordPart[] | undefined, escapes: RegExp): WordText {
  if (parts === undefined && !text.includes('\\')) return plainWord(text, at);
  const builder = new WordTextBuilder(at);
  if (parts === undefined) builder.addEscaped(text, at, escapes);
  else builder.addParts(parts, escapes);
  return builder;
}

class WordTextBuilder extends MappedTextBuilder implements WordText {
  readonly at: number;
  readonly variables: string[] = [];
  readonly substitutions: Substitution[] = [];

  constructor(at: number) {
    super();
    this.at = at;
  }

  /** Adds parts in which these escapes lose their backslash. */
  addParts(parts: readonly WordPart[], escapes: RegExp): void {
    for (const part of parts) this.addPart(part, escapes);
  }

  addEscaped(text: string, at: number, escapes: RegExp): void {
    let from = 0;
    for (const { 0: found, index } of text.matchAll(escapes)) {
      this.add(text.slice(from, index), at + from);
      // An escaped line break continues the line.
      from = index + (found === '\\\n' ? 2 : 1);
    }
    this.add(text.slice(from), at + from);
  }

  private addPart(part: WordPart, escapes: RegExp): void {
    switch (part.type) {
      case 'Literal':
        this.addEscaped(part.text, part.pos, escapes);
        break;
      case 'SingleQuoted':
        this.add(part.value, part.pos + 1);
        break;
      case 'AnsiCQuoted':
        this.addAnsiC(part);
        break;
      case 'DoubleQuoted':
      case 'LocaleString':
        this.addParts(part.parts, QUOTED_ESCAPE);
        break;
      case 'SimpleExpansion':
        this.addVariable(part.text.slice(1), part.pos, null);
        break;
      case 'ParameterExpansion':
        this.addParameter(part);
        break;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
        if (part.script !== undefined) this.substitutions.push({ at: part.pos, text: part.text, script: part.script });
        this.add(UNKNOWN, part.pos);
        break;
      case 'ArithmeticExpansion':
        this.add(UNKNOWN, part.pos);
        break;
      case 'Glob':
      case 'ExtendedGlob':
      case 'BraceExpansion':
        this.add(/[$`]/.test(part.text) ? UNKNOWN : part.text, part.pos);
        break;
    }
  }

  /** Every escape is one character of the value. */
  private addAnsiC({ text, value, pos }: AnsiCQuotedPart): void {
    let from = 0;
    for (const { 0: found, index } of text.slice(2, -1).matchAll(ANSI_C_CHARACTER)) {
      const piece = found.startsWith('\\') ? String.fromCodePoint(value.codePointAt(from) ?? 0) : found;
      this.add(piece, pos + 2 + index);
      from += piece.length;
    }
  }

  private addParameter({ pos, parameter, prefix, operation }: ParameterExpansionPart): void {
    const operand = operation?.type === 'Default' ? readWord(operation.operand) : null;
    const isDefault =
      operation?.type === 'Default' && /^:?-$/.test(operation.operator) && PLAIN_DEFAULT.test(operation.operand.text);
    if (prefix === undefined && (operation === undefined || isDefault)) this.addVariable(parameter, pos, operand);
    else {
      this.variables.push(parameter);
      this.add(UNKNOWN, pos);
    }
    this.variables.push(...(operand?.variables ?? []));
    this.substitutions.push(...(operand?.substitutions ?? []));
  }

  private addVariable(variable: string, at: number, defaultText: MappedText | null): void {
    this.variables.push(variable);
    if (/^\w+$/.test(variable)) this.placeholders.push({ at: this.text.length, variable, defaultText });
    this.add(UNKNOWN, at);
  }
}
