import { styleText } from 'node:util';

/** The few ways in which words stand out. */
export type Ink = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Puts ink on words, if there is to be colour at all. */
export type Dye = (ink: Ink, text: string) => string;

/** The dye for a place with colour, or without. Whether there is any is decided by whoever knows the place. */
export const dyeFor = (colour: boolean): Dye =>
  colour ? (ink, text) => styleText(ink, text, { validateStream: false }) : (_, text) => text;
