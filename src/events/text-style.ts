import { styleText } from 'node:util';

/** The few ways in which words stand out. */
export type TextStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Puts ink on words, if there is to be colour at all. */
export type Colorizer = (style: TextStyle, text: string) => string;

/** The dye for a place with colour, or without. Whether there is any is decided by whoever knows the place. */
export const createColorizer = (colour: boolean): Colorizer =>
  colour ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
