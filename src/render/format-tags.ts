import type { FollowedTag } from '../language/tags/followed-tag.ts';

/** Tags as they were written, each with its attributes; `…` stands for the text of a result. */
export const formatFollowedTags = (tags: readonly FollowedTag[]): string => tags.map(formatFollowedTag).join(' ');

const MAX_ATTRIBUTE_LENGTH = 200;

function formatFollowedTag({ tag, written }: FollowedTag): string {
  const attributes = Object.entries(written.attributes).map(([name, value]) => {
    const quote = value.includes('"') ? "'" : '"';
    const shown = value.length > MAX_ATTRIBUTE_LENGTH ? `${value.slice(0, MAX_ATTRIBUTE_LENGTH)}…` : value;
    return ` ${name}=${quote}${shown.replaceAll(/\s+/g, ' ')}${quote}`;
  });
  return `<${tag}${attributes.join('')}>${written.target ?? '…'}</${tag}>`;
}
