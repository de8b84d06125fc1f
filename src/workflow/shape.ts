/** What a value may be, in the words of JSON Schema (draft 7). A keyword binds only values of the type it speaks of. */
export interface Shape {
  readonly type: readonly string[];
  readonly [keyword: string]: unknown;
}

/** A text that can be an argument of a command. */
export const TEXT: Shape = { type: ['string'], not: { type: 'string', pattern: '\\u0000' } };

/** A text with something in it. */
export const WORD: Shape = { ...TEXT, pattern: '\\S' };

/** One such text, or a list of them. */
export const WORDS: Shape = { ...WORD, type: ['string', 'array'], items: WORD };

/** A single value, which is taken as it is written. */
export const SCALAR: Shape = { ...TEXT, type: ['string', 'number', 'boolean'] };

/** The same shape for where nothing may be written, too: what is left empty is not given. */
export const orNothing = (shape: Shape): Shape => ({ ...shape, type: [...shape.type, 'null'] });

/** Models and efforts that an editor offers; others are taken, too. */
export const OFFERED = {
  model: ['opus', 'sonnet', 'haiku'],
  effort: ['low', 'medium', 'high', 'xhigh', 'max'],
} as const;
