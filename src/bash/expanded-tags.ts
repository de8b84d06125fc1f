import { STATE_ATTRIBUTES } from '../language/tags/tag.ts';
import { hasUnknownPart, readTagMentions, type TagMention } from '../language/tags/tag-mentions.ts';
import { TRANSITIONS } from '../language/transitions/index.ts';
import type { CommandOutput } from './command-output.ts';
import { type MappedText, toSourceOffset } from './mapped-text.ts';
import type { SimpleCommand } from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import type { CommandContext } from './walk.ts';

/** A tag as it will be printed, and whether it has the values of variables in it. */
export type ExpandedTag = TagMention & { readonly filled: boolean };

/**
 * Puts the values of variables into the tags of one command, as far as the script shows the values. A tag whose values are
 * not all known is kept as well.
 */
export function expandTags(
  { tags, texts, sure, mayPrintUnknown }: CommandOutput,
  context: CommandContext,
  values: VariableValues,
): readonly ExpandedTag[] {
  const isOpenEnded = tags.some(hasUnknownTarget) || (sure && mayPrintUnknown);
  return texts.flatMap((text) => (isOpenEnded ? expandText(text, context, values) : readExpandedTags(text, false)));
}

function expandText(text: MappedText, context: CommandContext, values: VariableValues): readonly ExpandedTag[] {
  const literal = readExpandedTags(text, false);
  const { texts, isComplete } = values.fill(withoutPayload(text), context);
  const filled = texts.flatMap((each) => readExpandedTags(each, true));
  const combined = isComplete && filled.length > 0 ? filled : [...literal, ...filled];
  return [...new Map(combined.map((tag) => [`${tag.offset} ${spelling(tag)}`, tag])).values()];
}

/** Attributes other than `next` and `return` do not decide where a tag leads. */
function withoutPayload(text: MappedText): MappedText {
  const attributes = [
    ...text.text.matchAll(/\s(?!(?:next|return|timeout_next)\b)[\w-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/g),
  ];
  const isInAttribute = (at: number): boolean =>
    attributes.some(({ index, 0: attribute }) => index <= at && at < index + attribute.length);
  return { ...text, placeholders: text.placeholders.filter(({ at }) => !isInAttribute(at)) };
}

const readExpandedTags = (text: MappedText, filled: boolean): readonly ExpandedTag[] =>
  readTagMentions(text.text).tags.map((tag) => ({ ...tag, filled, ...locateTag(text, tag) }));

/** A state that comes from a variable is reported at the assignment, where a mistake is corrected; so is a tag with no other state. */
function locateTag(text: MappedText, mention: TagMention): Pick<TagMention, 'offset' | 'nameOffsets'> {
  const start = toSourceOffset(text, mention.offset);
  const close = text.text.indexOf('</', mention.offset);
  const end = close === -1 ? start : toSourceOffset(text, close);
  const names = locateNames(text.text, mention, close);
  const nameOffsets = Object.fromEntries(
    names.flatMap(([key, at]) => {
      const source = toSourceOffset(text, at);
      // Within one text, backslashes are all that can be left out; a default value stands within the tag.
      const isElsewhere = source < start || source > end || source - start > 2 * (at - mention.offset);
      return isElsewhere ? [[key, source] as const] : [];
    }),
  );
  const [only] = names.length === 1 ? Object.values(nameOffsets) : [];
  return { offset: only ?? start, nameOffsets };
}

/** The keys of a tag under which it names states, each with the index of the name; the text of the tag has the empty key. */
function locateNames(
  text: string,
  { name, tag, offset }: TagMention,
  close: number,
): readonly (readonly [string, number])[] {
  const hasState = TRANSITIONS[name].body !== 'text' && tag.body !== '';
  const body = hasState ? [['', text.lastIndexOf(tag.body, close)] as const] : [];
  const attributes = STATE_ATTRIBUTES.flatMap((key) => {
    const value = tag.attributes[key] ?? '';
    const written = text.slice(offset).search(new RegExp(`\\s${key}\\s*=`, 'i'));
    return value === '' || written === -1
      ? []
      : [[key, text.indexOf(value, offset + written + key.length + 1)] as const];
  });
  return [...body, ...attributes].filter(([, at]) => at !== -1);
}

const spelling = ({ name, tag }: TagMention): string => JSON.stringify([name, tag.body, tag.attributes]);

const hasUnknownTarget = ({ name, tag }: TagMention): boolean =>
  (TRANSITIONS[name].body === 'state' && hasUnknownPart(tag.body)) ||
  Object.entries(tag.attributes).flat().some(hasUnknownPart);

/** True if all that a command prints is written in the script, perhaps as values of variables. */
export const isFullyKnown = ({ texts }: CommandOutput, context: CommandContext, values: VariableValues): boolean =>
  texts.every((text) => {
    const filled = values.fill(text, context);
    return filled.isComplete && filled.texts.length > 0 && !filled.texts.some((each) => hasUnknownPart(each.text));
  });

/**
 * Adapts the tags of a command in a function to a call of the function. A tag with arguments in it differs from call to
 * call, and is reported at the call.
 */
export function substituteArguments(tags: readonly TagMention[], call: SimpleCommand | null): readonly TagMention[] {
  const args = call?.args.map(({ text }) => text) ?? [];
  if (call === null || args.length === 0 || args.some(hasUnknownPart)) return tags;
  return tags.map((mention) => {
    const { body, attributes } = mention.tag;
    const isConstant = ![body, ...Object.values(attributes)].some(hasUnknownPart);
    return isConstant
      ? mention
      : { name: mention.name, tag: { ...mention.tag, body: `${body} ${args.join(' ')}` }, offset: call.at };
  });
}
