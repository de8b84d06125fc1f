import { nearest } from '../core/nearest.ts';
import { BUILT_IN_ATTRIBUTES } from '../core/tag.ts';
import type { TagMention, UnclosedMention } from '../core/tag-mentions.ts';
import { TRANSITIONS } from '../core/transitions/index.ts';
import { isPlaceholderName } from './placeholders.ts';

/**
 * Whether what reads like a tag is what a prompt is about: a component such as `<Reset onClick={f}>Clear</Reset>`, or an
 * element with attributes of its own such as `<result code="0"/>`. What may name a state never is.
 */
export function isForeignMarkup(mention: TagMention, text: string, isState: (name: string) => boolean): boolean {
  const { name, tag, offset } = mention;
  const { body, required, variables } = TRANSITIONS[name];
  const keys = Object.keys(tag.attributes);
  const isComponent = COMPONENT.test(text.slice(offset, offset + name.length + 1));
  const hasForeignAttribute = keys.some(
    (key) => !OWN.includes(key) && nearest(key, TRANSITIONS[name].attributes) === undefined,
  );
  if (body === 'text') return hasForeignAttribute && (isComponent || tag.body === '');
  if (NAME.test(tag.body) || isState(tag.body) || required.some((key) => keys.includes(key))) return false;
  if (isComponent) return hasForeignAttribute || !isPlaceholderName(tag.body);
  return hasForeignAttribute && !variables && !isPlaceholderName(tag.body.replace(/\s/g, ''));
}

/** The same of a tag that nothing closes: `<Result value={x}/>`. */
export const isForeignUnclosed = ({ offset }: UnclosedMention, text: string): boolean =>
  /^<\p{Lu}\p{Ll}+\s+[\w-]+\s*=/u.test(text.slice(offset, offset + MAX_TAG_CHARS));

const MAX_TAG_CHARS = 80;
const COMPONENT = /^<\p{Lu}\p{Ll}+$/u;
const OWN: readonly string[] = BUILT_IN_ATTRIBUTES;
/** As most states are written, whether there is such a one or not. */
const NAME = /^[\p{Lu}\p{N}_-]+$|\.(?:md|sh|bat|ps1)$/u;
