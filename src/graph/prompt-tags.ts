import { implicitTag, type Policy } from '../core/policy.ts';
import { readTagMentions, type TagMention, type TagMentions, type UnclosedMention } from '../core/tag-mentions.ts';
import { isForeignMarkup, isForeignUnclosed } from './foreign-markup.ts';
import { type QuotedTag, readQuotedTags } from './quoted-tags.ts';
import { detectRequestedTags } from './requested-tags.ts';

/** What a prompt says about tags. */
export interface PromptTags {
  /** The tags that it mentions; those that are not `sure` are spoken of, but not asked for. */
  readonly tags: readonly SureMention[];
  /** The same, one for each of the alternatives in `<goto>A.md|B.md</goto>`. */
  readonly forms: readonly SureMention[];
  readonly halves: readonly (UnclosedMention & { readonly sure: boolean })[];
  readonly quoted: readonly QuotedTag[];
}

type SureMention = TagMention & { readonly sure: boolean };

/** Reads a prompt. `isState` says whether a name could be that of a state, in any letter case. */
export function readPromptTags(text: string, policy: Policy, isState: (name: string) => boolean): PromptTags {
  const { tags, halves } = readWithoutForeignMarkup(text, isState);
  const quoted = readQuotedTags(text, tags).filter((tag) => !isForeignMarkup(tag, text, isState));
  const isRequested = detectRequestedTags(text, implicitTag(policy) !== undefined);
  const all = tags.map((tag) => ({ ...tag, sure: isRequested(tag.offset) }));
  return {
    tags: all,
    forms: all.flatMap((mention) => expandAlternatives(mention, isState)),
    halves: halves.map((half) => ({ ...half, sure: true })),
    quoted,
  };
}

/** What stands in code may count only when what is no tag is gone; twice is enough for that. */
const MAX_PASSES = 3;

function readWithoutForeignMarkup(text: string, isState: (name: string) => boolean): TagMentions {
  let visible = text;
  let reading = readTagMentions(visible);
  for (let round = 1; round < MAX_PASSES; round++) {
    const foreignOffsets = reading.tags
      .filter((tag) => isForeignMarkup(tag, text, isState))
      .map(({ offset }) => offset);
    if (foreignOffsets.length === 0) break;
    visible = blankAt(visible, foreignOffsets);
    reading = readTagMentions(visible);
  }
  return {
    tags: reading.tags.filter((tag) => !isForeignMarkup(tag, text, isState)),
    halves: reading.halves.filter((half) => !isForeignUnclosed(half, text)),
  };
}

/** The text with a blank instead of the character at each of these offsets. */
function blankAt(text: string, offsets: readonly number[]): string {
  const parts = offsets.map((offset, index) => text.slice(index === 0 ? 0 : (offsets[index - 1] ?? 0) + 1, offset));
  return [...parts, text.slice((offsets.at(-1) ?? -1) + 1)].join(' ');
}

/** More than an author writes into one tag. */
const MAX_ALTERNATIVES = 20;

function expandAlternatives(mention: SureMention, isState: (name: string) => boolean): readonly SureMention[] {
  const { tag, name } = mention;
  const split = (written: string): readonly string[] => {
    const parts = written.split('|').map((part) => part.trim());
    return parts.includes('') || parts.length > MAX_ALTERNATIVES || isState(written) ? [written] : parts;
  };
  const bodies = name === 'result' ? [tag.body] : split(tag.body);
  const key = (['return', 'next'] as const).find((each) => tag.attributes[each]?.includes('|'));
  const others =
    key === undefined
      ? [tag.attributes]
      : split(tag.attributes[key] ?? '').map((state) => ({ ...tag.attributes, [key]: state }));
  return bodies.flatMap((body) => others.map((attributes) => ({ ...mention, tag: { ...tag, body, attributes } })));
}
