import { nearest } from '../core/nearest.ts';
import { OWN_ATTRIBUTES } from '../core/tag.ts';
import { TRANSITIONS } from '../core/transitions/index.ts';
import type { Half, Mention } from './mentions.ts';
import { isPlaceholder } from './placeholders.ts';

/**
 * Whether what reads like a tag is what a prompt is about: a component such as `<Reset onClick={f}>Clear</Reset>`, or an
 * element with attributes of its own such as `<result code="0"/>`. What may name a state never is.
 */
export function isSubject(mention: Mention, text: string, isState: (name: string) => boolean): boolean {
  const { name, tag, offset } = mention;
  const { body, required, variables } = TRANSITIONS[name];
  const keys = Object.keys(tag.attributes);
  const isComponent = COMPONENT.test(text.slice(offset, offset + name.length + 1));
  const isForeign = keys.some((key) => !OWN.includes(key) && nearest(key, TRANSITIONS[name].attributes) === undefined);
  if (body === 'text') return isForeign && (isComponent || tag.body === '');
  if (NAME.test(tag.body) || isState(tag.body) || required.some((key) => keys.includes(key))) return false;
  if (isComponent) return isForeign || !isPlaceholder(tag.body);
  return isForeign && !variables && !isPlaceholder(tag.body.replace(/\s/g, ''));
}

/** The same of a tag that nothing closes: `<Result value={x}/>`. */
export const isSubjectHalf = ({ offset }: Half, text: string): boolean =>
  /^<\p{Lu}\p{Ll}+\s+[\w-]+\s*=/u.test(text.slice(offset, offset + LONGEST));

const LONGEST = 80;
const COMPONENT = /^<\p{Lu}\p{Ll}+$/u;
const OWN: readonly string[] = OWN_ATTRIBUTES;
/** As most states are written, whether there is such a one or not. */
const NAME = /^[\p{Lu}\p{N}_-]+$|\.(?:md|sh|bat|ps1)$/u;
