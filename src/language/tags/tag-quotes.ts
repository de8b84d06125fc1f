import { shortenForMessage } from '../problem.ts';
import { isTagName, TRANSITIONS } from '../transitions/index.ts';
import type { Tag } from './tag.ts';

/** Quotes a tag for a message: shortened, and with its line if it has one. */
export const quoteAnswerTag = (tag: Tag): string => formatQuote(tag, '');

/** Quotes a tag with its attributes, for messages in which they matter. */
export function quoteWholeTag(tag: Tag): string {
  let attributesText = '';
  for (const key in tag.attributes) {
    if (attributesText.length > MAX_ATTRIBUTES_LENGTH) break;
    attributesText += ` ${shortenForMessage(key)}="${shortenForMessage(tag.attributes[key] ?? '')}"`;
  }
  return formatQuote(tag, shortenForMessage(attributesText));
}

function formatQuote({ name, body, line }: Tag, attributes: string): string {
  const rest = isTagName(name) && TRANSITIONS[name].body === 'text' ? '' : `${shortenForMessage(body)}</${name}>`;
  return `\`<${name}${attributes}>${rest}\`${line > 0 ? ` (line ${line})` : ''}`;
}

const MAX_LISTED_TAGS = 5;
const MAX_ATTRIBUTES_LENGTH = 60;

/** Lists tags for a message, the first few of them. */
export function listAnswerTags(tags: readonly Tag[]): string {
  const shown = tags.slice(0, MAX_LISTED_TAGS).map(quoteWholeTag);
  const more = tags.length - shown.length;
  const last = more > 0 ? `${more} more` : shown.pop();
  return `${shown.join(', ')} and ${last}`;
}
