import { styleText } from 'node:util';

/** The styles that output uses. */
export type TextStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Adds a style to a text, or returns it as it is where there is no colour. */
export type Colorizer = (style: TextStyle, text: string) => string;

/** Creates a colorizer that adds styles only if `colour` is true, whatever the environment says. */
export const createColorizer = (colour: boolean): Colorizer =>
  colour ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
